// The contracts that plugins and the gateway meet by, part of the public surface.

export type { AgentKey, Approver, Keys } from './access.ts'
export type { ApiStyle } from './api-style.ts'
export type { AskJson, AskStream, Command, Input, Io } from './command.ts'
export type { Detector, Ended, Evidence, Rule, Start, TextWatch, Totals } from './detector.ts'
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
export type { ListenedReply, ListenRequest, Meter } from './meter.ts'
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
export type { Ask, FieldFault, Form, Markup, Page, Panel, Posted, Refusal, Sent, View } from './page.ts'
export type { Finder, Redactor, Secrets } from './redaction.ts'
export type { BodyReader, Client, ProxyRequest, PushedBody, Reply, ReplyBody, Shown } from './reply.ts'
export type { BudgetLeft, Per, Period, PeriodNow } from './rules.ts'
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
  Key,
  OnStorageFailure,
  Position,
  PutOff,
  Reader,
  Storage,
  StorageBackend,
  StorageState,
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
  UpstreamAddress,
  UpstreamClient,
  UpstreamListener,
  UpstreamRequest,
  UpstreamResponse,
} from './upstream-client.ts'
