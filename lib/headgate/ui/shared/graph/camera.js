/* Pan, zoom and the minimap: where the world stands in the canvas. */
const FIT_MOST = 1.15, READABLE = 0.7, FAR = 0.34, NEAREST = 3, FARTHEST = 0.03;
const CROWDED = 1500, MARGIN = 200;
const EDGE = 22, MAP_WIDTH = 150, MAP_HEIGHT = 46;
const still = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

class Camera {
  constructor(host) {
    this.host = host;
    this.canvas = host.querySelector(".canvas");
    this.world = host.querySelector(".world");
    this.map = host.querySelector(".minimap");
    this.x = this.y = 0;
    this.zoom = 1;
    this.touched = false;
    this.size = [1, 1];
  }

  get room() { return [this.canvas.clientWidth, this.canvas.clientHeight]; }

  fitting() {
    const [w, h] = this.room;
    return Math.min(FIT_MOST, (w - 2 * EDGE - 16) / this.size[0], (h - 2 * EDGE) / this.size[1]);
  }

  /* The first look: everything if it stays readable or `all` is asked for, else from the start (or around `node`). */
  frame(node, all) {
    this.touched = false;
    const fits = this.fitting();
    this.zoom = Math.max(fits, all ? FARTHEST : READABLE);
    const [w, h] = this.room, wide = this.size[0] * this.zoom, high = this.size[1] * this.zoom;
    this.x = wide + 2 * EDGE <= w ? (w - wide) / 2 : EDGE;
    this.y = high + 2 * EDGE <= h ? (h - high) / 2 : EDGE;
    if (node && fits < this.zoom) this.centre(node);
    this.request();
  }

  holds(box) {
    const [w, h] = this.room, k = this.zoom, x = box.x * k + this.x, y = box.y * k + this.y;
    return x >= 0 && y >= 0 && x + box.width * k <= w && y + box.height * k <= h;
  }

  /* Bring a box that was opened into the middle: all of it, as near as it can be read. */
  approach(box) {
    const [w, h] = this.room, fits = Math.min((w - 2 * EDGE) / box.width, (h - 2 * EDGE) / box.height);
    this.zoom = Math.min(Math.max(fits, FAR), Math.max(this.zoom, READABLE));
    this.touched = true;
    this.glide(w / 2 - (box.x + box.width / 2) * this.zoom, h / 2 - (box.y + box.height / 2) * this.zoom);
  }

  showAll() {
    const [w, h] = this.room;
    this.touched = false;
    this.zoom = Math.max(FARTHEST, this.fitting());
    this.glide((w - this.size[0] * this.zoom) / 2, (h - this.size[1] * this.zoom) / 2);
  }

  centre(node) {
    const [w, h] = this.room, wide = this.size[0] * this.zoom, high = this.size[1] * this.zoom;
    const inside = (at, room, size) => Math.min(EDGE, Math.max(room - EDGE - size, at));
    this.x = wide + 2 * EDGE > w ? inside(w / 2 - node.x * this.zoom, w, wide) : (w - wide) / 2;
    this.y = high + 2 * EDGE > h ? inside(h / 2 - node.y * this.zoom, h, high) : (h - high) / 2;
    this.request();
  }

  /* Bring a node into view if it is not. */
  reveal(node) {
    const [w, h] = this.room, k = this.zoom;
    const x = node.x * k + this.x, y = node.y * k + this.y, dx = (node.width * k) / 2 + 12, dy = 30;
    if (x - dx > 0 && x + dx < w && y - dy > 0 && y + dy < h) return;
    this.glide(w / 2 - node.x * k, h / 2 - node.y * k);
  }

  glide(x, y) {
    if (still()) { this.x = x; this.y = y; this.request(); return; }
    const from = [this.x, this.y], begun = performance.now();
    const run = (this.run = (now) => {
      if (this.run !== run) return;
      const t = Math.min(1, (now - begun) / 180), ease = 1 - (1 - t) ** 3;
      this.x = from[0] + (x - from[0]) * ease;
      this.y = from[1] + (y - from[1]) * ease;
      this.apply();
      if (t < 1) requestAnimationFrame(run);
    });
    requestAnimationFrame(run);
  }

  zoomAt(factor, x, y) {
    const zoom = Math.min(NEAREST, Math.max(FARTHEST, this.zoom * factor));
    this.x = x - ((x - this.x) * zoom) / this.zoom;
    this.y = y - ((y - this.y) * zoom) / this.zoom;
    this.zoom = zoom;
    this.touched = true;
    this.request();
  }

  moveTo(x, y) {
    this.x = x;
    this.y = y;
    this.touched = true;
    this.request();
  }

  request() {
    this.run = null;
    if (!this.pending) this.pending = requestAnimationFrame(() => this.apply());
  }

  apply() {
    this.pending = 0;
    this.world.setAttribute("transform", `translate(${this.x},${this.y}) scale(${this.zoom})`);
    this.canvas.classList.toggle("far", this.zoom < FAR);
    this.canvas.style.backgroundPosition = `${this.x}px ${this.y}px`;
    this.hideFar();
    this.drawFrame();
  }

  /* In a crowded picture only what is in view (and a little around it) takes part. */
  cull(scene) {
    this.parts = [];
    if (scene.nodes.length <= CROWDED) return;
    const nodes = this.world.querySelectorAll(".node"), edges = this.world.querySelectorAll(".edge");
    const places = new Map(scene.nodes.map((n) => [n.id, [n.x - n.width / 2, n.y - 20, n.x + n.width / 2, n.y + 34]]));
    const routes = new Map(scene.edges.map((e) => [JSON.stringify([e.source, e.target]), this.around(e.points)]));
    nodes.forEach((element) => this.parts.push({ element, at: places.get(element.dataset.id), shown: true }));
    edges.forEach((element) => this.parts.push({ element, shown: true,
      at: routes.get(JSON.stringify([element.dataset.source, element.dataset.target])) }));
  }

  around(points) {
    const xs = points.map((p) => p[0]), ys = points.map((p) => p[1]);
    return [Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys)];
  }

  hideFar() {
    if (!this.parts || !this.parts.length) return;
    const [w, h] = this.room, k = this.zoom, more = MARGIN / k;
    const left = -this.x / k - more, top = -this.y / k - more;
    const right = (w - this.x) / k + more, bottom = (h - this.y) / k + more;
    for (const part of this.parts) {
      const [x0, y0, x1, y1] = part.at, shown = x1 > left && x0 < right && y1 > top && y0 < bottom;
      if (shown !== part.shown) part.element.style.display = (part.shown = shown) ? "" : "none";
    }
  }

  /* The minimap appears as soon as something is out of view. */
  drawMap(scene) {
    this.map.replaceChildren();
    if (!scene.width || !scene.height) return;
    const scale = Math.min(MAP_WIDTH / scene.width, MAP_HEIGHT / scene.height);
    this.scale = scale;
    this.map.setAttribute("width", scene.width * scale + 4);
    this.map.setAttribute("height", scene.height * scale + 4);
    const rect = (kind, x, y, w, h, more = "") => `<rect class="${kind}" x="${x}" y="${y}" width="${w}" height="${h}" ${more}/>`;
    const dots = scene.nodes.map((n) => rect("dot", n.x - n.width / 2, n.y - n.height / 2, n.width, n.height,
      `rx="8" style="--hue:var(--hg-${n.look});--status:var(--hg-${n.status})"${statusAttributes(n.status)}`));
    this.map.innerHTML = `<g transform="translate(2,2) scale(${scale})">` +
      scene.boxes.map((b) => rect("area", b.x, b.y, b.width, b.height, 'rx="14"')).join("") + dots.join("") +
      `<rect class="frame" rx="6"/></g>`;
  }

  drawFrame() {
    const [w, h] = this.room, k = this.zoom;
    const out = this.x < -1 || this.y < -1 || this.x + this.size[0] * k > w + 1 || this.y + this.size[1] * k > h + 1;
    this.map.toggleAttribute("hidden", !out);
    const frame = this.map.querySelector(".frame");
    if (!out || !frame) return;
    const left = Math.max(0, -this.x / k), top = Math.max(0, -this.y / k);
    const right = Math.min(this.size[0], (w - this.x) / k), bottom = Math.min(this.size[1], (h - this.y) / k);
    frame.setAttribute("x", left);
    frame.setAttribute("y", top);
    frame.setAttribute("width", Math.max(0, right - left));
    frame.setAttribute("height", Math.max(0, bottom - top));
  }

  jump(event) {
    const area = this.map.getBoundingClientRect(), [w, h] = this.room;
    const x = (event.clientX - area.left - 2) / this.scale, y = (event.clientY - area.top - 2) / this.scale;
    this.moveTo(w / 2 - x * this.zoom, h / 2 - y * this.zoom);
  }
}
