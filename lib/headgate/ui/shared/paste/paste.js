/* In:  data {label, placeholder, text, most}
   Out: states `text` (what stands in the area) and `length` (its characters: more than `most` are
   not sent, and `text` is empty then). */
const PAUSE = 300;
const TIMERS = new WeakMap();

export default function ({ data, parentElement, setStateValue }) {
  const area = parentElement.querySelector("textarea");
  area.placeholder = data.placeholder;
  area.setAttribute("aria-label", data.label);
  if (!TIMERS.has(area)) area.value = data.text;
  const tell = () => {
    const fits = area.value.length <= data.most;
    setStateValue("length", area.value.length);
    setStateValue("text", fits ? area.value : "");
  };
  area.oninput = () => {
    clearTimeout(TIMERS.get(area));
    TIMERS.set(area, setTimeout(tell, PAUSE));
  };
  TIMERS.set(area, TIMERS.get(area) || 0);
}
