export type {
  Attempt,
  Call,
  Conversation,
  Decision,
  Finding,
  Identity,
  Match,
  Mode,
  Outcome,
  Reading,
  Row,
  Session,
  SessionRow,
  Settled,
  ToolCall,
  Turn,
  Usage,
} from './call.ts'
export { type Clock, systemClock } from './clock.ts'
export type { ApiStyle, Envelope, Meter, Part } from './contracts/api-style.ts'
export type { Command, Input, Io } from './contracts/command.ts'
export type { Detector, Ended, Evidence, Rule, Totals } from './contracts/detector.ts'
export type { Client, Reply } from './contracts/reply.ts'
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
} from './contracts/storage.ts'
export { type ReadRequest, readRequest } from './conversation.ts'
export { type Code, catalogue, type ErrorBody, errorBody, GuardError, statusOf } from './errors.ts'
export { Gateway, type GatewayOptions } from './gateway.ts'
export type { Hooks } from './hooks.ts'
export { derivedId, newId, newKey, sha256 } from './ids.ts'
export { readJson, writeJson } from './json.ts'
export { type AgentKey, Keys } from './keys.ts'
export { handle } from './pipeline.ts'
export { apiStyle, detector, type Plugin, storage } from './plugin.ts'
export { type CallRecord, rowOf, type SessionEvent, sessionEvent } from './record.ts'
export type { Redactor } from './redact.ts'
export { Registry } from './registry.ts'
export { headerOf } from './relay.ts'
export { sessionById } from './session-id.ts'
export { createStore, type StoreOptions, table } from './store.ts'
export { argumentText, callKey } from './tool-calls.ts'
export { cutText, dropUnfinishedWord } from './text.ts'
