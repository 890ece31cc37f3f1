export {
  type Artifact,
  isPlayground,
  newCallRecord,
  type Run,
  ToolResults,
  type TraceEvent,
  type TreeNode,
} from '../trace.ts'
