// How the page of `tulle explain --html` looks, and what it does when it is pointed at.
#pragma once
#include <string_view>

namespace tulle::engine {

constexpr std::string_view kPageStyle = R"css(
body { font: 14px/1.4 system-ui, sans-serif; margin: 1rem 1.5rem; color: #1e293b; background: #fff; }
h1 { font-size: 1.2rem; margin: 0 0 .5rem; } h2 { font-size: .95rem; margin: .5rem 0; } h2 small { font-weight: normal; color: #64748b; }
pre { font: 12px/1.45 ui-monospace, monospace; margin: 0; } pre.program { font-size: 15px; padding: .75rem; background: #f1f5f9; white-space: pre-wrap; }
table { border-collapse: collapse; margin: .75rem 0; } td, th { padding: .15rem .7rem; text-align: left; border-bottom: 1px solid #e2e8f0; }
nav { position: sticky; top: 0; background: #fff; padding: .4rem 0; } button { font: inherit; margin-right: .3rem; border: 1px solid #94a3b8; background: #fff; border-radius: 4px; }
button.on { background: #2563eb; color: #fff; border-color: #2563eb; }
.stages { display: flex; gap: .75rem; align-items: flex-start; overflow-x: auto; } .stage { flex: 1 1 0; min-width: 24rem; border: 1px solid #cbd5e1; }
.stage h2 { padding: 0 .5rem; } .stage pre { white-space: normal; overflow: auto; height: 34rem; padding: .5rem; } .hidden { display: none; }
.line { display: block; min-height: 1.45em; white-space: pre; } [data-of] { cursor: pointer; } .lit { background: #fde68a; }
.figures { display: flex; flex-wrap: wrap; gap: 1rem; } figure { margin: 0; } figcaption { color: #64748b; font-size: 12px; }
)css";

constexpr std::string_view kPageScript = R"js(
const linked = (of) => document.querySelectorAll(`[data-of="${of}"]`);
let pinned = null;
const light = (of, on) => linked(of).forEach((e) => e.classList.toggle("lit", on));
document.body.addEventListener("mouseover", (event) => {
  const of = event.target.closest("[data-of]")?.dataset.of;
  document.querySelectorAll(".lit").forEach((e) => { if (e.dataset.of !== pinned) e.classList.remove("lit"); });
  if (of) light(of, true);
});
document.body.addEventListener("click", (event) => {
  const button = event.target.closest("button[data-stage]");
  if (button) {
    button.classList.toggle("on");
    document.getElementById(button.dataset.stage).classList.toggle("hidden");
    return;
  }
  const from = event.target.closest("[data-of]");
  if (!from) return;
  if (pinned) light(pinned, false);
  pinned = from.dataset.of === pinned ? null : from.dataset.of;
  if (!pinned) return;
  light(pinned, true);
  document.querySelectorAll(".stage:not(.hidden) pre").forEach((pre) => {
    const first = pre.querySelector(`[data-of="${pinned}"]`);
    if (first && !pre.contains(from)) pre.scrollTop += first.getBoundingClientRect().top - pre.getBoundingClientRect().top - 40;
  });
});
)js";

} // namespace tulle::engine
