export {
  type Artifact,
  argumentHash,
  isPlayground,
  newCallRecord,
  type Run,
  ToolResults,
  type TraceEvent,
  type TreeNode,
} from '../trace.ts'
