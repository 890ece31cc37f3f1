import { extname } from 'node:path'
import { GuardError } from 'guard-gateway/core'
import { ParserProcessError, parserProcess } from 'guard-gateway/lib/parser-process'
import { locationIn } from './locations.ts'
import type { YamlAnswer, YamlText } from './parser.ts'
import { readYaml, type Yaml, type YamlLimits, type YamlModule } from './reader.ts'

/** Longer texts are read in a process of their own: of the worst, which are errors from end to end, 65,536 characters take half a second, and these a tenth of what a request may wait. */
export const SHORT_CHARS = 4_096
const LIMIT_MS = 10_000
// .ts from source, .js from a build
const PARSER = new URL(`./parser${extname(import.meta.filename)}`, import.meta.url).href

/**
 * Reads YAML as `readYaml` does, texts of more than `short_chars` in a process of their own, which gets 10 s for it, since a busy machine is no fault of a text. `yaml` is the address of the package.
 * Throws GuardError INVALID_YAML.
 */
export const readLongYaml = async (
  yaml: string,
  text: string,
  { short_chars = SHORT_CHARS, ...options }: YamlLimits & { readonly short_chars?: number } = {},
  limit_ms = LIMIT_MS,
): Promise<Yaml> => {
  if (text.length <= short_chars) return readYaml((await import(yaml)) as YamlModule, text, options)
  const request: YamlText = { yaml, text, options }
  const answer = await parserProcess
    .parse<YamlText, YamlAnswer>(PARSER, request, { kind: 'yaml', long: true, chars: text.length, limit_ms })
    .catch((error: unknown) => {
      if (!(error instanceof ParserProcessError)) throw error
      throw new GuardError('INVALID_YAML', unreadText(error, limit_ms))
    })
  if ('refusal' in answer) throw new GuardError('INVALID_YAML', answer.refusal, answer.place)
  const { value, places } = answer
  return { value, locate: (path) => locationIn(places, path) }
}

const unreadText = ({ failure, message }: ParserProcessError, limit_ms: number): string =>
  failure === 'timeout'
    ? `The text takes longer than ${limit_ms / 1000} s to read. Make it shorter.`
    : `The text was not read: ${message}. Make it shorter, or try again.`
