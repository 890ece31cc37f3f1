import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Ajv2020 } from 'ajv/dist/2020.js'
import type { Static, TSchema } from 'typebox'
import type { Arguments, CheckContext, CheckFinding, McpCheck } from '#lib/mcp-check'

/** What the policy's schema offers to those of checks. */
const offered = {
  strings: { type: 'array', minItems: 1, uniqueItems: true, items: { type: 'string', minLength: 1 } },
  pointer: { type: 'string', pattern: '^(/([^~/]|~[01])*)+$' },
  pointers: { type: 'array', minItems: 1, uniqueItems: true, items: { $ref: '#/$defs/pointer' } },
  optional: { type: 'boolean', default: false },
}

/** Options, arguments that pass under them, and arguments that do not. */
export interface CheckCase<Options> {
  readonly options: Options
  readonly passes: Arguments
  readonly fails: Arguments
}

/** Loads a check as a policy does and gives what it says of arguments. */
export const loaded = async <O extends TSchema>(
  check: McpCheck<O>,
  options: Static<O>,
  at: Partial<CheckContext> = {},
): Promise<(args: Arguments) => Promise<readonly CheckFinding[]>> => {
  await check.prepare?.()
  const compiled = (await check.compile?.(options)) ?? options
  const context: CheckContext = { server_id: 'files', tool: 'do', cwd: undefined, ...at }
  return async (args) => check.find(args, compiled, context)
}

/** What every check of tool calls promises. */
export const mcpCheckConforms = <O extends TSchema>(
  check: McpCheck<O>,
  { options, passes, fails }: CheckCase<Static<O>>,
): void => {
  const accepts = new Ajv2020({ strict: false, logger: false }).compile({
    $ref: '#/$defs/options',
    $defs: { ...offered, options: check.schema },
  })
  describe(`${check.id} as a check of tool calls`, () => {
    it('has an id that stands as a key in policies', () => assert.match(check.id, /^[a-z][a-z0-9_]{0,63}$/))
    it('has a schema that takes its options, and refuses none and unknown ones', () => {
      assert.ok(accepts(options), JSON.stringify(accepts.errors))
      assert.ok(!accepts({ ...(options as object), no_such_option: true }))
      assert.ok(!accepts({}))
      assert.ok(!accepts([]))
    })
    it('has a schema that is plain JSON', () => {
      assert.deepEqual(JSON.parse(JSON.stringify(check.schema)), { ...(check.schema as object) })
    })
    it('passes what is right and says what is wrong, where', async () => {
      const find = await loaded(check, options)
      assert.deepEqual(await find(passes), [])
      const findings = await find(fails)
      assert.ok(findings.length > 0)
      for (const { pointer, reason, certain } of findings) {
        assert.match(pointer, /^(\/([^~/]|~[01])*)*$/)
        assert.match(reason, /^[^\n\r]{1,300}$/)
        assert.doesNotMatch(reason, /^[A-Z]|[.!]$/, 'a reason ends a sentence that begins elsewhere')
        assert.equal(typeof certain, 'boolean')
      }
    })
    it('says the same again, and changes nothing that it is shown', async () => {
      const find = await loaded(check, frozen(options))
      const first = await find(frozen(fails))
      assert.deepEqual(await find(frozen(fails)), first)
      assert.deepEqual(await find(frozen(passes)), [])
    })
    it('tells calls apart that it judges at a time, long ones too', async () => {
      const find = await loaded(check, frozen(options))
      const calls = [passes, fails, longer(passes), longer(fails)]
      const alone: (readonly CheckFinding[])[] = []
      for (const args of calls) alone.push(await find(args))
      assert.deepEqual(await Promise.all([...calls, ...calls].map(find)), [...alone, ...alone])
    })
    it('lives through arguments that are nothing of what it expects', async () => {
      const find = await loaded(check, options)
      for (const args of strange) {
        const findings = await find(args)
        assert.ok(Array.isArray(findings))
      }
    })
  })
}

/** The same arguments with texts that take longer to judge. */
const longer = (args: Arguments): Arguments =>
  Object.fromEntries(
    Object.entries(args).map(([name, value]) => [name, typeof value === 'string' ? value.padEnd(20_000) : value]),
  )

const deep = (levels: number): unknown => JSON.parse(`${'['.repeat(levels)}${']'.repeat(levels)}`)

const strange: readonly Arguments[] = [
  {},
  JSON.parse('{"__proto__": {"path": 1}, "constructor": null, "toString": []}'),
  ...['path', 'command', 'url', 'sql'].flatMap((name): Arguments[] => [
    { [name]: null },
    { [name]: 0 },
    { [name]: [] },
    { [name]: {} },
    { [name]: deep(120) },
    { [name]: '' },
    { [name]: '\0' },
    { [name]: '\ud800' },
    { [name]: 'x'.repeat(300_000) },
    { [name]: '('.repeat(20_000) },
  ]),
]

const frozen = <T>(value: T): T => {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  Object.freeze(value)
  for (const part of Object.values(value)) frozen(part)
  return value
}
