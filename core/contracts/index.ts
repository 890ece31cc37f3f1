// The contracts that plugins and the gateway meet by, part of the public surface.

// what contracts are made of
export type {
  Fragment,
  FragmentArtifact,
  FragmentEvent,
  FragmentRun,
  FragmentWarning,
  Kept,
  RunLabels,
} from '../fragment.ts'
export type {
  Artifact,
  Attributes,
  FailureEvidence,
  FailureTag,
  Origin,
  Owner,
  Records,
  Run,
  Severity,
  Span as TraceSpan,
  SpanKind,
  Trace,
  TraceEvent,
  TreeNode,
  TreeSpan,
} from '../trace.ts'
export type { Access, AgentKey, Approver, Keys } from './access.ts'
export type { ApiStyle } from './api-style.ts'
export type { AskJson, AskStream, Command, Input, Io } from './command.ts'
export type { Detector, Ended, Evidence, Start, TextWatch, Totals } from './detector.ts'
export type {
  ArtifactDraft,
  EventDraft,
  ExportFormat,
  ExportOptions,
  ImportedRecord,
  ImportedRun,
  ImportReading,
  ImportSource,
  ImportWarning,
  RunDraft,
  SpanDraft,
  TraceWriter,
} from './export-format.ts'
export type { Frame, FrameFault, JsonMember, JsonValue } from './frame.ts'
export type { Listener, ReplyListener } from './listener.ts'
export type { Arguments, CheckContext, CheckFinding, CheckLint, McpCheck } from './mcp-check.ts'
export type {
  Lost,
  McpLink,
  McpReply,
  McpServer,
  McpSession,
  McpTransport,
  PassedHeaders,
  StreamEvent,
} from './mcp-transport.ts'
export type { ListenedReply, ListenRequest, Meter } from './meter.ts'
export type { Ask, FieldFault, Form, Markup, Page, Panel, Posted, Refusal, Sent, View } from './page.ts'
export type { Recording, ToolRecording } from './recording.ts'
export type { Finder, Redaction, Redactor, Secrets } from './redaction.ts'
export type { BodyReader, Client, ProxyRequest, PushedBody, Reply, ReplyBody, Shown } from './reply.ts'
export type { BodyOwnership, ReadRequest, Requests } from './requests.ts'
export type { BudgetLeft, Per, Period, PeriodNow, Rule, Rules } from './rules.ts'
export type { Documents, PreviewBytes, Services } from './services.ts'
export type { Sessions } from './sessions.ts'
export type {
  AnyRow,
  Capabilities,
  Change,
  Column,
  Driver,
  DriverChange,
  DriverContext,
  DriverPage,
  DriverQuery,
  DriverReader,
  FlushDeferred,
  Key,
  OnStorageFailure,
  Position,
  Reader,
  Storage,
  StorageBackend,
  StorageState,
  Store,
  Table,
  TableName,
  Tables,
  WriteOptions,
} from './storage.ts'
export type { AnyWhere, Found, Order, Query, Test, Where } from './storage-query.ts'
export type { DriverSum, Group, Sum } from './storage-sum.ts'
export type {
  Connections,
  Exchange,
  ProxyAddress,
  UpstreamAddress,
  UpstreamClient,
  UpstreamListener,
  UpstreamRequest,
  UpstreamResponse,
} from './upstream-client.ts'
