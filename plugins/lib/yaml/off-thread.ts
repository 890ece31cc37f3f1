import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'
import { GuardError } from 'guard-gateway/core'
import { type Places, placeIn, type YamlPlace } from './places.ts'
import { readYaml, type Yaml, type YamlLimits, type YamlModule } from './reader.ts'

/** What the thread is started with: the address of the `yaml` package, and what to read. */
export interface ApartTask {
  readonly yaml: string
  readonly text: string
  readonly options: YamlLimits
}

/** What the thread answers. */
export type ApartAnswer =
  | { readonly value: unknown; readonly places: Places }
  | { readonly refusal: string; readonly place: Partial<YamlPlace> }

/** Longer texts are read apart: of the worst, which are errors from end to end, 65,536 characters take half a second, and these a tenth of what a request may wait. */
export const APART_CHARS = 4_096
const LIMIT_MS = 10_000

/**
 * Reads YAML as `readYaml` does, long texts in a thread of their own, which gets 10 s for it, since a busy machine is no fault of a text. `yaml` is the address of the package.
 * Throws GuardError INVALID_YAML.
 */
export const readYamlApart = async (
  yaml: string,
  text: string,
  options: YamlLimits = {},
  limit_ms = LIMIT_MS,
): Promise<Yaml> => {
  if (text.length <= APART_CHARS) return readYaml((await import(yaml)) as YamlModule, text, options)
  const answer = await answered({ yaml, text, options }, limit_ms)
  if ('refusal' in answer) throw new GuardError('INVALID_YAML', answer.refusal, answer.place)
  const { value, places } = answer
  return { value, locate: (path) => placeIn(places, path) }
}

const answered = async (workerData: ApartTask, limit_ms: number): Promise<ApartAnswer> => {
  // .ts from source, .js from a build
  const url = new URL(`./off-thread-worker${extname(import.meta.filename)}`, import.meta.url)
  const worker = new Worker(url, { workerData, name: 'guard-yaml' })
  let late: NodeJS.Timeout | undefined
  try {
    return await new Promise((resolve, reject) => {
      worker.once('message', resolve)
      worker.once('error', reject)
      const message = `The text takes longer than ${limit_ms / 1000} s to read. Make it shorter.`
      late = setTimeout(() => resolve({ refusal: message, place: {} }), limit_ms)
    })
  } finally {
    clearTimeout(late)
    await worker.terminate()
  }
}
