// The contracts that plugins and the gateway meet by, part of the public surface.

export type { ApiStyle, Meter } from './api-style.ts'
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
  ImportWarning,
  RunDraft,
  SpanDraft,
  TraceWriter,
} from './export-format.ts'
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
export type { Ask, FieldFault, Form, Page, Panel, Posted, Refusal, Sent, View } from './page.ts'
export type { BodyReader, Client, ProxyRequest, PushedBody, Reply, ReplyBody, Shown } from './reply.ts'
export type { Listener, Speech } from './speech.ts'
export type {
  AnyRow,
  AnyWhere,
  Capabilities,
  Change,
  Column,
  Driver,
  DriverChange,
  DriverContext,
  DriverPage,
  DriverQuery,
  Found,
  Key,
  Order,
  Position,
  PutOff,
  Query,
  Reader,
  Storage,
  StorageBackend,
  StorageState,
  Table,
  TableName,
  Tables,
  Test,
  Where,
  WriteOptions,
} from './storage.ts'
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
