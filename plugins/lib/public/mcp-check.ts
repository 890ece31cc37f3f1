export {
  type Arguments,
  type CheckFinding,
  type CheckLint,
  examineTexts,
  mcpCheck,
  mcpCheckKind,
  mcpResultCheck,
  type PieceFinding,
  type ResultContext,
  type ResultFinding,
  type ResultPart,
  type ToolResult,
} from '../mcp-check.ts'
