#include "format/Encoding.h"
namespace tulle::format {
Expr dim(unsigned i){ return std::make_shared<const ExprNode>(ExprNode{ExprKind::Dim,int64_t(i),{}, {},nullptr,nullptr}); }
Encoding denseEncoding(unsigned order){ Encoding e; for(unsigned i=0;i<order;++i){ e.dims.push_back({"d",{},nullptr}); e.levels.push_back({"",dim(i),{}});} return e;}
bool isAllDense(const Encoding&e){ for(auto&l:e.levels) if(l.format.kind!=LevelKind::Dense&&l.format.kind!=LevelKind::Batch) return false; return true;}
Encoding parseFormat(std::string_view,unsigned order,std::string_view){ Encoding e=denseEncoding(order); e.levels.back().format.kind=LevelKind::Compressed; return e;}
}
