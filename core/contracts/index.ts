// The types that plugins and the gateway meet by, part of the public surface.

export type * from '../fragment.ts'
export type { Notice } from '../notice.ts'
export type { Recording, ToolRecording } from '../settled.ts'
export type { Attributes, FailureTag, Origin, Owner, Severity, SpanKind } from '../trace.ts'
export type * from './api-style.ts'
export type * from './detector.ts'
export type * from './reply.ts'
export type * from './services.ts'
export type * from './storage.ts'
export type * from './storage-query.ts'
