/* The component: keeps the picture, the selection and the camera over reruns of the page.

   In:  data {scene, words, key, picture, home, room}; what is marked comes by marks.js, as a
        message of its own: neither is sent again because the other changed
   Out: states `toggled` ({id, at}: a box's id, and when) and `room` (width and height of the
        canvas, for which the scene is laid out). They are no triggers: one that comes while the
        page is running would be lost. */
const KEPT = new WeakMap();
const PATIENCE = 800, ROOM_STEP = 40;
const MANY = 150; // so many fading nodes hold the browser up for seconds: a pointer above one dims no other
const MANY_STOPS = 60; // from here on, arrows walk from node to node and Tab leaves the graph
const STEPS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
const UNMARKED = { selected: null, hits: [], query: "", notes: {}, trail: [] };

class Graph {
  constructor(host) {
    this.host = host;
    this.camera = new Camera(host);
    this.tip = host.querySelector(".tip");
    this.canvas = this.camera.canvas;
    this.world = this.camera.world;
    this.listen();
    this.watch = new ResizeObserver(() => this.resized());
  }

  /* Nothing is drawn before the page knows how much room there is and what is marked: the
     picture would jump. */
  show(data, send) {
    this.send = send;
    this.data = data;
    this.meet(data.key);
    this.measure(data.room);
    this.present();
  }

  meet(key) {
    const graphs = (globalThis.headgateGraphs ??= new Map());
    if (!graphs.has(key)) graphs.set(key, {});
    this.meeting = graphs.get(key);
    this.meeting.graph = this;
  }

  /* Tell the page the room if it laid out for another one. */
  measure(known) {
    const room = this.camera.room.map((size) => Math.round(size / ROOM_STEP) * ROOM_STEP);
    if (!room[0] || String(room) === String(known) || String(room) === this.told) return;
    this.told = String(room);
    this.send("room", room);
  }

  present() {
    clearTimeout(this.waiting);
    const waits = !this.content && (!this.marksAreHere || (this.told && this.told !== String(this.data.room)));
    if (waits) this.waiting = setTimeout(() => this.update(), PATIENCE);
    else this.update();
  }

  get marksAreHere() { return this.marks.picture === this.data.picture; }

  get marks() { return this.meeting.marks || UNMARKED; }

  marked() {
    if (!this.data) return;
    if (this.content) this.remark();
    else this.present();
  }

  update() {
    const data = this.data;
    this.known = data.room;
    this.words = data.words;
    const content = JSON.stringify(data.scene);
    if (content !== this.content) this.draw(data, content);
    this.remark();
  }

  remark() {
    const marks = this.marks;
    this.hits = new Set(marks.hits);
    this.searching = Boolean(marks.query);
    this.trail = new Set(marks.trail.map((pair) => JSON.stringify(pair)));
    this.trailed = new Set(marks.trail.flat());
    if (this.wanted !== marks.selected) {
      this.wanted = this.selected = marks.selected;
      const node = this.nodes.get(this.selected);
      if (node) this.camera.reveal(node);
    }
    this.note(marks.notes);
    this.mark();
    if (this.sought !== marks.query && this.data.fit && this.hits.size) this.camera.approach(this.around(this.hits));
    this.sought = marks.query;
  }

  /* The area of these nodes. */
  around(ids) {
    const found = [...ids].map((id) => this.nodes.get(id)).filter(Boolean);
    const x = Math.min(...found.map((n) => n.x - n.width / 2)), y = Math.min(...found.map((n) => n.y - n.height / 2));
    return { x, y, width: Math.max(...found.map((n) => n.x + n.width / 2)) - x, height: Math.max(...found.map((n) => n.y + n.height / 2)) - y };
  }

  draw(data, content) {
    const anchor = this.content && this.picture === data.picture ? this.anchor() : null;
    this.content = content;
    this.scene = data.scene;
    const had = this.nodes;
    this.nodes = new Map(data.scene.nodes.map((n) => [n.id, n]));
    this.camera.size = [data.scene.width, data.scene.height];
    this.world.innerHTML = drawWorld(data.scene, data.words);
    this.world.classList.toggle("diff", data.scene.is_diff);
    this.world.classList.toggle("many", this.nodes.size > MANY);
    this.host.querySelector(".legend").innerHTML = drawLegend(data.scene, data.words);
    this.index();
    this.camera.cull(data.scene);
    this.camera.drawMap(data.scene);
    this.wanted = this.selected = this.marks.selected;
    this.rove(this.selected);
    this.room = String(this.camera.room);
    if (anchor) this.keep(anchor);
    else this.frame();
    this.picture = data.picture;
    this.hovered = null;
    const chosen = this.nodes.get(this.selected);
    if (anchor && chosen && !had.has(chosen.id)) this.camera.reveal(chosen);
  }

  /* In a large picture only a selected node is worth more than seeing everything. */
  frame() {
    const chosen = this.nodes.get(this.selected) || null;
    this.camera.frame(this.data.fit ? chosen : this.begin(), this.data.fit && !chosen);
  }

  /* A click looks up what it changes instead of walking through everything. */
  index() {
    this.elements = new Map([...this.world.querySelectorAll(".node")].map((e) => [e.dataset.id, e]));
    this.edges = new Map();
    for (const edge of this.world.querySelectorAll(".edge"))
      for (const end of new Set([edge.dataset.source, edge.dataset.target]))
        this.edges.set(end, [...(this.edges.get(end) || []), edge]);
    this.painted = {};
    this.noted = "";
    this.stop = null;
  }

  /* The node to begin with where not all of them fit. */
  begin() {
    return this.nodes.get(this.selected) || this.nodes.get(this.data.home) || null;
  }

  /* In a large graph one node is a tab stop, so that what follows the graph stays in reach. */
  rove(id) {
    if (this.nodes.size < MANY_STOPS) return;
    const next = this.elements.get(id) || this.elements.get(this.data.home) || this.elements.values().next().value;
    if (!this.stop) for (const node of this.elements.values()) node.setAttribute("tabindex", "-1");
    else this.stop.setAttribute("tabindex", "-1");
    this.stop = next;
    next.setAttribute("tabindex", "0");
  }

  /* What must not move when a box is opened or closed: that box, else nothing. */
  anchor() {
    const id = this.toggled;
    this.toggled = null;
    const at = id && this.place(id);
    return { id, at, touched: this.camera.touched };
  }

  place(id) {
    const box = this.scene.boxes.find((b) => b.id === id);
    if (box) return [box.x, box.y];
    const node = this.nodes.get(id);
    return node ? [node.x - node.width / 2, node.y - node.height / 2] : null;
  }

  keep({ id, at, touched }) {
    const now = at && this.place(id), camera = this.camera;
    const opened = this.scene.boxes.find((b) => b.id === id);
    const unseen = opened && this.data.fit && !camera.holds(opened);
    if (opened && (unseen || camera.zoom < READABLE)) return camera.approach(opened);
    if (!touched && !(now && camera.fitting() < READABLE)) return this.frame();
    if (now) camera.moveTo(camera.x + (at[0] - now[0]) * camera.zoom, camera.y + (at[1] - now[1]) * camera.zoom);
    camera.request();
  }

  /* Live numbers change without drawing anything anew. */
  note(notes) {
    const all = JSON.stringify(notes);
    if (all === this.noted) return;
    this.noted = all;
    for (const element of this.world.querySelectorAll(".node, .box")) {
      const text = notes[element.dataset.id] || "", place = element.querySelector("text.note");
      if (!place || place.textContent === text) continue;
      place.textContent = text;
      const { name, rest } = element.dataset;
      if (name) element.setAttribute("aria-label", name + (text && `, ${text}`) + rest);
    }
  }

  mark() {
    const centre = this.hovered || this.selected, keep = new Set(centre ? [centre] : []);
    const follows = !this.hovered && this.trail.size > 0;
    const on = new Set(follows ? this.followed() : this.edges.get(centre));
    if (follows) this.trailed.forEach((id) => keep.add(id));
    else for (const edge of on) keep.add(edge.dataset.source).add(edge.dataset.target);
    const nodes = (ids) => new Set([...ids].map((id) => this.elements.get(id)).filter(Boolean));
    this.paint("on", on);
    this.paint("selected", nodes([this.selected]), (node, is) => node.setAttribute("aria-pressed", is));
    this.paint("hit", nodes(this.hits));
    this.paint("keep", nodes([...keep, ...this.hits]));
    this.world.classList.toggle("dim", Boolean(this.hovered && this.nodes.size <= MANY) || this.searching || follows);
  }

  followed() {
    return [...this.trail].flatMap((pair) => {
      const [source, target] = JSON.parse(pair);
      return (this.edges.get(source) || []).filter((e) => e.dataset.source === source && e.dataset.target === target);
    });
  }

  /* Give a class to these elements, and take it from the others that had it. */
  paint(name, wanted, more = () => {}) {
    const had = this.painted[name] || new Set();
    for (const element of had) if (!wanted.has(element)) { element.classList.remove(name); more(element, false); }
    for (const element of wanted) if (!had.has(element)) { element.classList.add(name); more(element, true); }
    this.painted[name] = wanted;
  }

  select(id) {
    this.selected = this.wanted = id;
    this.mark();
    if (this.meeting.pick) this.meeting.pick({ id, at: Date.now() });
  }

  toggle(id) {
    this.toggled = id;
    this.send("toggled", { id, at: Date.now() });
  }

  activate(target) {
    const header = target.closest(".header"), node = target.closest(".node");
    if (header) this.toggle(header.dataset.box);
    else if (node && node.classList.contains("group") && this.scene.can_expand.includes(node.dataset.id)) this.toggle(node.dataset.id);
    else if (node) this.select(node.dataset.id);
    else if (this.selected) this.select(null);
  }

  hover(event) {
    const element = event.target.closest(".node"), id = element ? element.dataset.id : null;
    this.tell(id && this.nodes.get(id), event);
    if (id === this.hovered) return;
    this.hovered = id;
    this.mark();
  }

  tell(node, event) {
    const short = node && (this.camera.zoom < 0.8 || node.text !== node.label);
    this.tip.hidden = !short;
    if (!short) return;
    const area = this.host.getBoundingClientRect();
    this.tip.textContent = describe(node, this.words).join(" · ");
    this.tip.style.left = `${Math.max(4, Math.min(event.clientX - area.left + 14, this.host.clientWidth - this.tip.offsetWidth - 8))}px`;
    this.tip.style.top = `${Math.min(event.clientY - area.top + 18, this.host.clientHeight - this.tip.offsetHeight - 8)}px`;
  }

  /* The nearest node in a direction, distance across it counting double. */
  step(from, [dx, dy]) {
    let best = null, least = Infinity;
    for (const node of this.nodes.values()) {
      const along = (node.x - from.x) * dx + (node.y - from.y) * dy;
      const across = Math.abs((node.x - from.x) * dy) + Math.abs((node.y - from.y) * dx);
      if (along > 1 && along + 2 * across < least) [best, least] = [node, along + 2 * across];
    }
    return best;
  }

  key(event) {
    const [w, h] = this.camera.room, zoom = { "+": 1.25, "=": 1.25, "-": 0.8 }[event.key];
    const element = event.target.closest(".node, .header");
    if (zoom) this.camera.zoomAt(zoom, w / 2, h / 2);
    else if (event.key === "0") this.camera.showAll();
    else if (event.key === "Escape") { if (this.selected) this.select(null); }
    else if (element && (event.key === "Enter" || event.key === " ")) this.activate(element);
    else if (STEPS[event.key] && element && element.dataset.id) this.walk(element, STEPS[event.key]);
    else return;
    event.preventDefault();
  }

  walk(element, direction) {
    const next = this.step(this.nodes.get(element.dataset.id), direction);
    if (next) this.elements.get(next.id).focus({ preventScroll: true });
  }

  focused(event) {
    this.host.scrollTop = this.host.scrollLeft = 0;
    const node = event.target.dataset && this.nodes.get(event.target.dataset.id);
    if (!node) return;
    this.rove(node.id);
    if (event.target.matches(":focus-visible")) this.camera.reveal(node);
  }

  resized() {
    const room = String(this.camera.room);
    if (room === this.room) return;
    this.room = room;
    clearTimeout(this.settling);
    this.settling = setTimeout(() => this.send && this.measure(this.known), PATIENCE);
    if (this.scene && !this.camera.touched) this.frame();
    else this.camera.request();
  }

  listen() {
    const { canvas, camera, host } = this;
    canvas.addEventListener("wheel", (e) => {
      e.preventDefault();
      const area = canvas.getBoundingClientRect();
      camera.zoomAt(Math.exp(-e.deltaY * 0.0015), e.clientX - area.left, e.clientY - area.top);
    }, { passive: false });
    canvas.addEventListener("pointerdown", (e) => { if (!e.button) this.held = { x: e.clientX, y: e.clientY, from: [camera.x, camera.y] }; });
    canvas.addEventListener("pointermove", (e) => (this.held ? this.drag(e) : this.hover(e)));
    canvas.addEventListener("pointerup", (e) => this.drop(e));
    canvas.addEventListener("pointercancel", () => { this.held = null; });
    canvas.addEventListener("pointerleave", () => {
      this.tip.hidden = true;
      if (this.hovered) { this.hovered = null; this.mark(); }
    });
    canvas.addEventListener("keydown", (e) => this.key(e));
    canvas.addEventListener("focusin", (e) => this.focused(e));
    for (const button of host.querySelectorAll(".zoom button")) button.onclick = () => this.press(button.dataset.zoom);
    camera.map.onpointerdown = (e) => { camera.map.setPointerCapture(e.pointerId); camera.jump(e); };
    camera.map.onpointermove = (e) => { if (e.buttons) camera.jump(e); };
  }

  press(what) {
    const [w, h] = this.camera.room;
    if (what === "fit") this.camera.showAll();
    else this.camera.zoomAt(what === "in" ? 1.25 : 0.8, w / 2, h / 2);
  }

  drag(event) {
    const held = this.held, dx = event.clientX - held.x, dy = event.clientY - held.y;
    if (!held.moved && Math.abs(dx) + Math.abs(dy) <= 4) return;
    if (!held.moved) {
      held.moved = true;
      this.canvas.setPointerCapture(event.pointerId);
      this.canvas.classList.add("dragging");
    }
    this.camera.moveTo(held.from[0] + dx, held.from[1] + dy);
  }

  drop(event) {
    const held = this.held;
    this.held = null;
    this.canvas.classList.remove("dragging");
    if (held && !held.moved) this.activate(event.target);
  }
}

export default function ({ data, parentElement, setStateValue }) {
  const host = parentElement.querySelector(".graph");
  if (!KEPT.has(host)) KEPT.set(host, new Graph(host));
  const graph = KEPT.get(host);
  graph.watch.observe(host);
  graph.show(data, setStateValue);
  return () => graph.watch.disconnect();
}
