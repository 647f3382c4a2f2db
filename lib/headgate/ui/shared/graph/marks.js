/* What is marked in a graph: small, so that a click needs no more than this message.

   In:  data {graph, picture, selected, hits, query, notes, trail}
   Out: state `picked` ({id, at}: a node's id or null, and when), set by the graph that has the
        key `graph`: both meet in `headgateGraphs`, whichever of them comes first. */
export default function ({ data, setStateValue }) {
  const graphs = (globalThis.headgateGraphs ??= new Map());
  if (!graphs.has(data.graph)) graphs.set(data.graph, {});
  const meeting = graphs.get(data.graph);
  meeting.marks = data;
  meeting.pick = (picked) => setStateValue("picked", picked);
  if (meeting.graph) meeting.graph.marked();
}
