import { randomBytes } from 'node:crypto'
import { programs } from './programs.ts'

/** In every stand-in, and by itself in no text: nobody can guess it. */
export const mark = `<${randomBytes(6).toString('base64url')}>`

/** Longer lists are parsed as they are, and longer texts hashed as they are: what they are written to would be kept. */
export const BYTE_LIMIT = 1024 * 1024

/** Behind a list and a text some bytes more are looked at, or written. */
const REGION = BYTE_LIMIT + 4096
/** Of so many bytes not more than 8,192 texts can be long ones: rows of 24 bytes, digests of 32. */
const TABLE = 256 * 1024

/** Where things stand in the memory that both programs share. */
export const places = {
  mark: 64,
  digest: 1024,
  given: 4096,
  shortened: 4096 + REGION,
  texts: 4096 + 2 * REGION,
  rows: 4096 + 3 * REGION,
  digests: 4096 + 3 * REGION + TABLE,
} as const

/** As much of WebAssembly as is used; Node's types have none of it. */
declare const WebAssembly: {
  readonly Module: new (bytes: Uint8Array) => object
  readonly Instance: new (module: object, imports: object) => { readonly exports: object }
}

interface Digest {
  readonly memory: { readonly buffer: ArrayBuffer }
  digest(at: number, length: number, to: number): void
}

interface Scan {
  scan(
    at: number,
    limit: number,
    long: number,
    mark: number,
    marked: number,
    shortened: number,
    texts: number,
    rows: number,
    digests: number,
  ): number
}

/** The programs and their memory, as bytes and as numbers of four. */
interface Loaded {
  readonly digest: Digest['digest']
  readonly scan: Scan['scan']
  readonly bytes: Buffer
  readonly numbers: Int32Array
}

const instance = <T extends object>(program: string, imports: object): T =>
  new WebAssembly.Instance(new WebAssembly.Module(Buffer.from(program, 'base64')), imports).exports as T

const load = (): Loaded | null => {
  try {
    const digest = instance<Digest>(programs.digest, {})
    const { scan } = instance<Scan>(programs.scan, { digest })
    const { buffer } = digest.memory
    const bytes = Buffer.from(buffer)
    bytes.write(mark, places.mark, 'latin1')
    return { digest: digest.digest, scan, bytes, numbers: new Int32Array(buffer) }
  } catch {
    return null
  }
}

/** Made for the first text: most commands never read one. */
let loaded: Loaded | null | undefined

/** Null where there is no WebAssembly, or no address space for its memory. */
export const loadedPrograms = (): Loaded | null => {
  if (loaded === undefined) loaded = load()
  return loaded
}
