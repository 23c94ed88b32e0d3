#include "format/Layout.h"
#include "support/Diagnostic.h"
#include <regex>
namespace tulle::format {
Expr mk(ExprKind k, int64_t v, Expr l = {}, Expr r = {}) { auto n = std::make_shared<ExprNode>(); n->kind = k; n->value = v; n->lhs = l; n->rhs = r; return n; }
Expr constant(int64_t v) { return mk(ExprKind::Constant, v); }
Expr dim(unsigned i) { return mk(ExprKind::Dim, i); }
Expr levelVar(unsigned i) { return mk(ExprKind::Level, i); }
Expr binary(ExprKind k, Expr l, Expr r) { return mk(k, 0, l, r); }
bool equal(const Expr &a, const Expr &b) { return false; }
static std::string trim(std::string s) { while (!s.empty() && isspace(s[0])) s.erase(0, 1); while (!s.empty() && isspace(s.back())) s.pop_back(); return s; }
static std::vector<std::string> split(std::string s) { std::vector<std::string> r; int d = 0; std::string c; for (char x : s) { if (x == '(' || x == '[') ++d; if (x == ')' || x == ']') --d; if (x == ',' && !d) { r.push_back(trim(c)); c.clear(); } else c += x; } if (!trim(c).empty()) r.push_back(trim(c)); return r; }
std::string_view name(LevelKind k) { switch (k) { case LevelKind::Dense: return "dense"; case LevelKind::Batch: return "batch"; case LevelKind::Compressed: return "compressed"; case LevelKind::LooseCompressed: return "loose_compressed"; case LevelKind::Singleton: return "singleton"; case LevelKind::Structured: return "structured"; default: return "?"; } }
std::string print(const LevelFormat &f) { std::string s(name(f.kind)); if (f.kind == LevelKind::Structured) s += "[" + std::to_string(f.n) + "," + std::to_string(f.m) + "]"; std::vector<std::string> p; if (!f.unique) p.push_back("nonunique"); if (!f.ordered) p.push_back("nonordered"); if (f.soa) p.push_back("soa"); std::string a; for (auto &x : p) a += (a.empty() ? "" : ", ") + x; return a.empty() ? s : s + "(" + a + ")"; }
Encoding parseEncoding(std::string_view t, std::string_view) {
  std::string s(t); s = std::regex_replace(s, std::regex("//[^\n]*"), ""); for (char &c : s) if (c == '\n') c = ' ';
  std::smatch m; Encoding e; auto bad = [&](std::string w) { throw support::SyntaxError("e", t, {0, 1}, w); };
  if (!std::regex_search(s, m, std::regex("map *= *\\(([^)]*)\\) *-> *\\("))) bad("no map");
  for (auto &d : split(m[1])) e.dims.push_back({d, {}, {}});
  std::string rest = m.suffix(); int depth = 1; size_t i = 0; for (; i < rest.size() && depth; ++i) { if (rest[i] == '(') ++depth; if (rest[i] == ')') --depth; }
  for (auto &l : split(rest.substr(0, i - 1))) { std::smatch q; if (!std::regex_match(l, q, std::regex("(\\w+)( +(floordiv|mod) +(\\d+))?( +mod +(\\d+))? *: *(\\w+)(\\[(\\d+), *(\\d+)\\])?(\\(([^)]*)\\))?"))) bad("level " + l);
    Level L; unsigned d = 0; while (d < e.dims.size() && e.dims[d].name != q[1]) ++d; L.expr = dim(d); if (q[3].matched) L.expr = binary(q[3] == "mod" ? ExprKind::Mod : ExprKind::FloorDiv, L.expr, constant(std::stol(q[4]))); if (q[6].matched) L.expr = binary(ExprKind::Mod, L.expr, constant(std::stol(q[6])));
    std::string k = q[7]; if (k == "dense") L.format.kind = LevelKind::Dense; else if (k == "batch") L.format.kind = LevelKind::Batch; else if (k == "compressed") L.format.kind = LevelKind::Compressed; else if (k == "loose_compressed") L.format.kind = LevelKind::LooseCompressed; else if (k == "singleton") L.format.kind = LevelKind::Singleton; else if (k == "block2_4" || k == "structured") { L.format.kind = LevelKind::Structured; L.format.n = 2; L.format.m = 4; } else bad("unknown level format " + k);
    std::string p = q[12]; if (p.find("nonunique") != p.npos) L.format.unique = false; if (p.find("nonordered") != p.npos) L.format.ordered = false; if (p.find("soa") != p.npos) L.format.soa = true;
    e.levels.push_back(L); }
  if (std::regex_search(s, m, std::regex("posWidth *= *(\\d+)"))) e.posWidth = std::stoi(m[1]);
  if (std::regex_search(s, m, std::regex("crdWidth *= *(\\d+)"))) e.crdWidth = std::stoi(m[1]);
  return e; }
static std::string pe(const Encoding &e, const Expr &x) { switch (x->kind) { case ExprKind::Constant: return std::to_string(x->value); case ExprKind::Dim: return e.dims[x->value].name; case ExprKind::Mod: return pe(e, x->lhs) + " mod " + pe(e, x->rhs); default: return pe(e, x->lhs) + " floordiv " + pe(e, x->rhs); } }
std::string printBody(const Encoding &e) { std::string s = "map = ("; for (auto &d : e.dims) s += (s.back() == '(' ? "" : ", ") + d.name; s += ") -> ("; for (auto &l : e.levels) s += (s.back() == '(' ? "" : ", ") + pe(e, l.expr) + " : " + print(l.format); s += ")"; if (e.posWidth) s += ", posWidth = " + std::to_string(e.posWidth); if (e.crdWidth) s += ", crdWidth = " + std::to_string(e.crdWidth); return s; }
std::string print(const Encoding &e) { return "#tulle.encoding<{ " + printBody(e) + " }>"; }
bool Encoding::operator==(const Encoding &o) const { return print(*this) == print(o); }
Encoding denseEncoding(unsigned n) { Encoding e; static const char *names[] = {"i", "j", "k", "l", "m", "n"}; for (unsigned d = 0; d < n; ++d) { e.dims.push_back({names[d], {}, {}}); e.levels.push_back({"", dim(d), {}}); } return e; }
bool isAllDense(const Encoding &e) { for (auto &l : e.levels) if (l.format.kind != LevelKind::Dense && l.format.kind != LevelKind::Batch) return false; return true; }
static Digit dg(const Expr &x) { if (x->kind == ExprKind::Dim) return {unsigned(x->value), 1, 0}; Digit d = dg(x->lhs); if (x->kind == ExprKind::FloorDiv) d.stride *= x->rhs->value; else d.modulus = x->rhs->value; return d; }
std::optional<std::vector<Digit>> digits(const Encoding &e) { std::vector<Digit> r; for (auto &l : e.levels) r.push_back(dg(l.expr)); return r; }
std::string whyNotExecutable(const Encoding &) { return ""; }
std::string displayName(const Encoding &e) { return printBody(e); }
Layout layout(const Encoding &e) { Layout r; size_t n = e.levels.size(); r.positions.resize(n); r.coordinates.resize(n); unsigned pw = e.posWidth ? e.posWidth : 64, cw = e.crdWidth ? e.crdWidth : 64;
  for (size_t l = 0; l < n; ++l) { auto &f = e.levels[l].format; bool comp = f.kind == LevelKind::Compressed || f.kind == LevelKind::LooseCompressed;
    if (comp) { r.positions[l] = r.fields.size(); r.fields.push_back({FieldKind::Positions, unsigned(l), pw}); }
    if (comp && !f.unique) { size_t m = l + 1; while (m < n && e.levels[m].format.kind == LevelKind::Singleton && !e.levels[m].format.soa) ++m; unsigned k = m - l; for (size_t q = l; q < m; ++q) r.coordinates[q] = CoordinateRef{unsigned(r.fields.size()), k, unsigned(q - l)}; r.fields.push_back({FieldKind::Coordinates, unsigned(l), cw}); continue; }
    if (f.kind != LevelKind::Dense && f.kind != LevelKind::Batch && !r.coordinates[l]) { r.coordinates[l] = CoordinateRef{unsigned(r.fields.size()), 1, 0}; r.fields.push_back({FieldKind::Coordinates, unsigned(l), cw}); } }
  r.fields.push_back({FieldKind::Values, 0, 0}); return r; }
int64_t levelSize(const Digit &d, const std::vector<int64_t> &dims) { return d.modulus ? d.modulus : (dims[d.dim] + d.stride - 1) / d.stride; }
std::optional<std::vector<Expr>> inverseMap(const Encoding &) { return std::nullopt; }
Encoding resolveWidths(const Encoding &e, int64_t, int64_t) { return e; }
Encoding parseFormat(std::string_view t, unsigned, std::string_view n) { return parseEncoding(t, n); }
std::vector<Preset> presets() { return {}; }
}
