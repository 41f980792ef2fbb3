"use strict";
// Turns the tetrahedra by mouse, touch and arrow keys, all together: what is compared is seen from the same side.
{
  const solids = [...document.querySelectorAll("svg.solid")];
  const numbers = text => text.split(" ").map(Number);
  const flat = numbers(solids[0].dataset.view);
  const first = [0, 3, 6].map(i => flat.slice(i, i + 3)); // to the right, downward, to the eye
  const parts = solids.map(svg => ({
    points: [...svg.querySelectorAll(".points > *")].map(e => ({e, at: numbers(e.dataset.at)})),
    marks: [...svg.querySelectorAll(".marks > *")].map(e => ({e, at: numbers(e.dataset.at)})),
    corners: [...svg.querySelectorAll(".corner")].map(e => numbers(e.dataset.at)),
    edges: [...svg.querySelectorAll(".edge")].map(e => [e, numbers(e.dataset.ends)]),
    back: svg.querySelector(".back"), front: svg.querySelector(".front"), cloud: svg.querySelector(".points"),
  }));
  let turn = first, waiting = false, rest;
  const seen = p => turn.map(row => row[0] * p[0] + row[1] * p[1] + row[2] * p[2]);
  const set = (e, name, value) => e.setAttribute(name, value.toFixed(1));

  function draw(part) {
    const at = part.corners.map(seen), reach = Math.hypot(...part.corners[0]);
    for (const [line, [i, j, k, l]] of part.edges) {
      set(line, "x1", at[i][0]); set(line, "y1", at[i][1]); set(line, "x2", at[j][0]); set(line, "y2", at[j][1]);
      (at[k][2] >= 0 && at[l][2] >= 0 ? part.back : part.front).append(line);
    }
    for (const point of part.points) {
      const [x, y, z] = point.seen = seen(point.at);
      set(point.e, "cx", x); set(point.e, "cy", y); set(point.e, "r", part.cloud.dataset.r * (1 + 0.3 * z / reach));
    }
    for (const mark of part.marks) { // these sizes and distances are those of the still picture
      const [x, y] = seen(mark.at);
      mark.e.setAttribute("transform", `translate(${x.toFixed(1)} ${y.toFixed(1)})`);
      if (mark.e.tagName === "text") mark.e.setAttribute("y", y < 0 ? -13 : 22);
    }
  }
  // While it turns only what is on the screen is drawn; at rest all is, and what is near comes to hide what is far.
  function show(next) {
    turn = next;
    clearTimeout(rest);
    rest = setTimeout(() => parts.forEach(part => {
      draw(part);
      part.cloud.append(...part.points.sort((a, b) => a.seen[2] - b.seen[2]).map(point => point.e));
    }), 150);
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      const boxes = solids.map(svg => svg.getBoundingClientRect());
      parts.forEach((part, i) => { if (boxes[i].bottom > 0 && boxes[i].top < innerHeight) draw(part); });
    });
  }
  // The picture follows the hand: to the right about the upright axis, downward about the level one.
  function turned(right, down) {
    const [c, s, d, t] = [Math.cos(right), Math.sin(right), Math.cos(down), Math.sin(down)];
    const [x, y, z] = turn, mix = (a, u, b, v) => a.map((e, i) => e * u + v * b[i]);
    const [x1, z1] = [mix(x, c, z, s), mix(z, c, x, -s)];
    return [x1, mix(y, d, z1, t), mix(z1, d, y, -t)];
  }
  const STEP = Math.PI / 18;
  const keys = {ArrowLeft: [-STEP, 0], ArrowRight: [STEP, 0], ArrowUp: [0, -STEP], ArrowDown: [0, STEP]};
  for (const svg of solids) {
    svg.setAttribute("tabindex", "0");
    svg.setAttribute("aria-keyshortcuts", "ArrowLeft ArrowRight ArrowUp ArrowDown Home");
    svg.addEventListener("keydown", event => {
      if (event.altKey || event.ctrlKey || event.metaKey || !(event.key in keys || event.key === "Home")) return;
      event.preventDefault();
      show(event.key === "Home" ? first : turned(...keys[event.key]));
    });
    let last = null;
    svg.addEventListener("pointerdown", event => {
      if (event.button || last) return;
      last = event;
      svg.setPointerCapture(event.pointerId);
    });
    svg.addEventListener("pointermove", event => {
      if (!last || event.pointerId !== last.pointerId) return;
      const scale = 2.4 / (0.4 * svg.clientWidth);
      show(turned(scale * (event.clientX - last.clientX), scale * (event.clientY - last.clientY)));
      last = event;
    });
    for (const end of ["pointerup", "pointercancel", "lostpointercapture"]) svg.addEventListener(end, () => { last = null; });
  }
  for (const hint of document.querySelectorAll(".turn-hint")) hint.hidden = false;
}
