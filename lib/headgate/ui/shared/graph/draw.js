/* Writes a scene as SVG text. Every string from outside goes through `escaped`. */
const ENTITIES = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };
const escaped = (text) => String(text).replace(/[&<>"']/g, (c) => ENTITIES[c]);
const hue = (name) => `style="--hue:var(--hg-${escaped(name)})"`;

function statusAttributes(status) {
  return status === "same" ? "" : ` data-status="${escaped(status)}"`;
}

function describe(node, words) {
  const look = node.count ? `${node.count} nodes` : words.looks[node.look];
  const parts = [node.label, look];
  if (node.status !== "same") parts.push(words.statuses[node.status][1]);
  for (const mark of node.marks) parts.push(words.marks[mark][1]);
  return parts;
}

/* What a screen reader says before and after a node's note: what is seen, in its order. A label
   that was shortened is said as it is seen (WCAG 2.5.3), and whole after the note. */
function spoken(node, words) {
  const [label, look, ...more] = describe(node, words), rest = node.count ? [look, ...more] : more;
  if (node.text !== label) rest.unshift(label);
  return [node.count ? node.text : `${look} ${node.text}`, rest.map((part) => `, ${part}`).join("")];
}

function drawArea(box) {
  return `<g class="box"><rect class="area" rx="12" x="${box.x}" y="${box.y}" width="${box.width}" height="${box.height}"/></g>`;
}

/* Headers lie above the edges, which may have to pass beneath a title. */
function drawHeader(box) {
  const room = Math.min(box.width - 12, box.title.length * 7.9 + 70);
  return `<g class="box" data-id="${escaped(box.id)}">
    <g class="header" data-box="${escaped(box.id)}" role="button" tabindex="0" aria-expanded="true">
      <rect rx="6" x="${box.x + 6}" y="${box.y + 6}" width="${room}" height="24"/>
      <path d="M${box.x + 15} ${box.y + 16}l3.5 3.5 3.5-3.5"/>
      <text x="${box.x + 30}" y="${box.y + 18.5}">${escaped(box.title)}<tspan dx="2"> ${escaped(box.detail)}</tspan></text>
    </g><text class="note" x="${box.x + box.width - 12}" y="${box.y + 18.5}"></text></g>`;
}

/* A curve through all points, tangent to the flow at each of them. */
function curve(points, flow) {
  const down = flow === "TB";
  let path = `M${points[0][0]} ${points[0][1]}`;
  for (let i = 1; i < points.length; i++) {
    const [x0, y0] = points[i - 1], [x1, y1] = points[i];
    const along = Math.abs(down ? y1 - y0 : x1 - x0), across = Math.abs(down ? x1 - x0 : y1 - y0);
    const reach = Math.min(70, Math.max(Math.min(12, across / 2), along / 2));
    path += down
      ? `C${x0} ${y0 + reach} ${x1} ${y1 - reach} ${x1} ${y1}`
      : `C${x0 + reach} ${y0} ${x1 - reach} ${y1} ${x1} ${y1}`;
  }
  return path;
}

function drawEdge(edge) {
  const quiet = edge.status === "same" ? " quiet" : "";
  const tint = edge.status === "same" ? "" : ` style="--status:var(--hg-${escaped(edge.status)})"`;
  return `<path class="edge${quiet}" data-source="${escaped(edge.source)}" data-target="${escaped(edge.target)}"${statusAttributes(edge.status)}${tint} d="${curve(edge.points, edge.flow)}" marker-end="url(#head)"/>`;
}

function drawBadge(node, words) {
  if (node.status === "same") return "";
  const loud = node.status === "silently_wrong";
  const [x, y] = loud ? [node.width - 1, 0] : [node.width - 3, 3];
  return `<g class="badge${loud ? " loud" : ""}" transform="translate(${x},${y})"><circle r="${loud ? 11.5 : 9}"/><text y=".5">${words.statuses[node.status][0]}</text></g>`;
}

function drawMarks(node, words) {
  return node.marks.map((mark, i) =>
    `<g class="mark" style="--status:var(--hg-${escaped(mark)})" transform="translate(${3 + 17 * i},${node.height - 1})"><circle r="7.5"/><text y=".5">${words.marks[mark][0]}</text></g>`).join("");
}

function drawNode(node, words) {
  const pill = PILLS.has(node.look), w = node.width, h = node.height, r = pill ? h / 2 : 7;
  const x = pill ? 13 : 10, quiet = node.status === "same" && !node.marks.length ? " quiet" : "";
  const out = node.status === "silently_wrong" ? 8 : 3;
  const [name, rest] = spoken(node, words);
  return `<g class="node ${escaped(node.look)}${quiet}" style="--hue:var(--hg-${escaped(node.look)});--status:var(--hg-${escaped(node.status)})" data-id="${escaped(node.id)}"${statusAttributes(node.status)}
    role="button" tabindex="0" aria-pressed="false" data-name="${escaped(name)}" data-rest="${escaped(rest)}" aria-label="${escaped(name + rest)}" transform="translate(${node.x - w / 2},${node.y - h / 2})">
    <rect class="halo" x="${-out}" y="${-out}" width="${w + 2 * out}" height="${h + 2 * out}" rx="${r + out}"/>
    <rect class="double" x="-4" y="-4" width="${w + 8}" height="${h + 8}" rx="${r + 4}"/>
    <rect class="face" width="${w}" height="${h}" rx="${r}"/>
    ${pill ? "" : '<rect class="chip" x="6" y="6" width="22" height="22" rx="5"/>'}<path class="icon" transform="translate(${x},10)" d="${ICONS[node.look]}"/>
    <text class="label" x="${x + (pill ? 21 : 25)}" y="${h / 2 + 0.5}">${escaped(node.text)}</text>
    <text class="note" x="${w / 2}" y="${h + 11}"></text>${node.count ? `<text class="count" x="${w - 12}" y="${h / 2 + 0.5}">${node.count}</text>` : ""}${drawMarks(node, words)}${drawBadge(node, words)}</g>`;
}

function drawWorld(scene, words) {
  const edges = [...scene.edges].sort((a, b) => (a.status !== "same") - (b.status !== "same"));
  return scene.boxes.map(drawArea).join("") + edges.map(drawEdge).join("") + scene.boxes.map(drawHeader).join("") +
    scene.nodes.map((node) => drawNode(node, words)).join("");
}

function drawLegend(scene, words) {
  const looks = new Set(scene.nodes.map((n) => n.look));
  const statuses = new Set(scene.nodes.map((n) => n.status));
  const marks = new Set(scene.nodes.flatMap((n) => n.marks));
  if (!scene.is_diff)
    return Object.entries(words.looks).filter(([look]) => looks.has(look)).map(([look, word]) =>
      `<span ${hue(look)}><svg viewBox="0 0 14 14"><path d="${ICONS[look]}"/></svg>${escaped(word)}</span>`).join("");
  const badge = (name, [glyph, word], style) =>
    `<span style="--status:var(--hg-${name})"><i class="${style}">${glyph}</i>${escaped(word)}</span>`;
  return Object.entries(words.statuses).filter(([s]) => s !== "same" && statuses.has(s))
    .map(([s, w]) => badge(s, w, s === "silently_wrong" ? "loud" : "")).join("") +
    Object.entries(words.marks).filter(([m]) => marks.has(m)).map(([m, w]) => badge(m, w, "hollow")).join("");
}
