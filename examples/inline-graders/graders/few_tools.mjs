// Passes when the agent needed few tool calls, and none of them failed.
export const grade = ({ trajectory = [], metadata = {} }) => {
  const calls = trajectory.filter((step) => step.type === "tool_call");
  const failed = calls.filter((call) => call.status === "failed");
  const most = metadata.most_calls ?? 5;
  const score = (calls.length <= most ? 0.5 : 0) + (failed.length === 0 ? 0.5 : 0);
  return { pass: score === 1, score, reasoning: `${calls.length} tool calls, ${failed.length} failed` };
};
