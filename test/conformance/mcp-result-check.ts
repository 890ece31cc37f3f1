import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { Gateway } from 'guard-gateway/core'
import { foundation } from 'guard-gateway/presets/foundation'
import type { Static, TSchema } from 'typebox'
import type { McpResultCheck, ResultContext, ResultFinding, ToolResult } from '#lib/mcp-check'

const strings = { type: 'array', minItems: 1, uniqueItems: true, items: { type: 'string', minLength: 1 } }

/** Options, a text that passes under them, and one that does not. */
export interface ResultCase<Options> {
  readonly options: Options
  readonly passes: string
  readonly fails: string
}

/** The result of a tool that answers with these texts. */
export const resultOfTexts = (...texts: readonly string[]): ToolResult => {
  const parts = texts.map((text, index) => ({
    ...{ pointer: `/content/${index}/text`, kind: 'text' as const, text },
    bytes: Buffer.byteLength(text),
  }))
  return { parts, structured_bytes: 0, bytes: parts.reduce((sum, { bytes }) => sum + bytes, 60) }
}

/** Loads a check as a policy does and gives what it says of results. */
export const loadedResultCheck = async <O extends TSchema>(
  check: McpResultCheck<O>,
  options: Static<O>,
): Promise<(result: ToolResult) => Promise<readonly ResultFinding[]>> => {
  await check.prepare?.()
  const compiled = (await check.compile?.(options)) ?? options
  const redact = new Gateway()
    .use(...foundation())
    .service('resultRedactor')
    .need()
  const at: ResultContext = { server_id: 'files', tool: 'read', redact }
  return async (result) => check.find(result, compiled, at)
}

/** The text with what the edits of findings put in place of its parts. */
export const mendedBy = (text: string, findings: readonly ResultFinding[]): string =>
  findings
    .flatMap(({ edit }) => edit ?? [])
    .toSorted((one, other) => other.start - one.start)
    .reduce((mended, { start, end, text: other }) => mended.slice(0, start) + other + mended.slice(end), text)

/** What every check of results promises. */
export const mcpResultCheckConforms = <O extends TSchema>(
  check: McpResultCheck<O>,
  { options, passes, fails }: ResultCase<Static<O>>,
): void => {
  const accepts = new Ajv2020({ strict: false, logger: false }).compile({
    $ref: '#/$defs/options',
    $defs: { strings, options: check.schema },
  })
  const found = async (...texts: readonly string[]) =>
    (await loadedResultCheck(check, options))(resultOfTexts(...texts))

  describe(`${check.id} as a check of results`, () => {
    it('has an id that stands as a key in policies, and says what its edits do', () => {
      assert.match(check.id, /^[a-z][a-z0-9_]{0,63}$/)
      assert.ok(['redact', 'cut'].includes(check.mends))
    })
    it('has a schema that takes its options and no unknown ones, and leaves "action" to the policy', () => {
      assert.ok(accepts(options), JSON.stringify(accepts.errors))
      assert.ok(!accepts({ ...(options as object), no_such_option: true }))
      assert.ok(!Object.hasOwn((check.schema as { properties?: object }).properties ?? {}, 'action'))
      assert.deepEqual(JSON.parse(JSON.stringify(check.schema)), { ...(check.schema as object) })
    })
    it('passes what is right and says what is wrong, where, without repeating it', async () => {
      assert.deepEqual(await found(passes), [])
      const findings = await found(passes, fails)
      assert.ok(findings.length > 0)
      for (const { pointer, reason } of findings) {
        assert.ok(pointer === '' || pointer.startsWith('/content/'), pointer)
        assert.match(reason, /^[^\n\r]{1,300}$/)
        assert.doesNotMatch(reason, /^[A-Z]|[.!]$/, 'a reason ends a sentence that begins elsewhere')
        assert.ok(!reason.includes(fails))
      }
    })
    it('finds nothing in what its edits have mended', async () => {
      const mended = mendedBy(fails, await found(fails))
      if (check.mends === 'redact') assert.deepEqual(await found(mended), [])
      else assert.ok(mended !== fails)
    })
    it('says the same again, of several results at a time, and changes nothing that it is shown', async () => {
      const find = await loadedResultCheck(check, Object.freeze(options as object) as Static<O>)
      const result = resultOfTexts(fails)
      const before = JSON.stringify(result)
      const alone = await find(result)
      const long = resultOfTexts(`${'line of text\n'.repeat(5_000)}`)
      assert.deepEqual(await Promise.all([find(result), find(long), find(result)]), [alone, await find(long), alone])
      assert.equal(JSON.stringify(result), before)
    })
    it('lives through results that are nothing of what it expects', async () => {
      for (const text of ['', '\0', '\ud800', 'x'.repeat(300_000), '<!--'.repeat(20_000), '\u200b'.repeat(20_000)])
        assert.ok(Array.isArray(await found(text)), text.slice(0, 8))
      assert.ok(Array.isArray(await found()))
    })
  })
}
