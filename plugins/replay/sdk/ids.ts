const POOL_BYTES = 4_096
const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))

/** Pooled random bytes. A system call per id would cost more than the span itself. */
const pool = new Uint8Array(POOL_BYTES)
let used = POOL_BYTES

const hex = (bytes: number): string => {
  if (used + bytes > POOL_BYTES) {
    crypto.getRandomValues(pool)
    used = 0
  }
  let text = ''
  for (const end = used + bytes; used < end; used++) text += HEX[pool[used] ?? 0]
  return text
}

/** 32 hex digits, never all zero. */
export const newTraceId = (): string => nonZero(16)

/** 16 hex digits, never all zero. */
export const newSpanId = (): string => nonZero(8)

/** An id of an event or an artifact: the prefix and 16 hex digits. */
export const newRecordId = (prefix: 'evt_' | 'art_'): string => prefix + hex(8)

const nonZero = (bytes: number): string => {
  for (;;) {
    const id = hex(bytes)
    if (/[^0]/.test(id)) return id
  }
}

const ID = /^[A-Za-z0-9._:@/+=-]{1,128}$/

/** True if the gateway accepts the text as a session label. */
export const isId = (text: string): boolean => ID.test(text)

/** True if the gateway accepts the text as a trace id. The page of a trace must not share the URL of another page. */
export const isTraceId = (text: string): boolean => isId(text) && !/^(?:\.{1,2}|import|compare)$/.test(text)

const NAME = /^(?!\.{1,2}$)[A-Za-z0-9._-]{1,128}$/

/** True if the gateway accepts the text as project or agent in the headers of a model request. */
export const isName = (text: string): boolean => NAME.test(text)
