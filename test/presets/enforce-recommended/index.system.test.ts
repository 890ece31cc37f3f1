import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { type Dialect, dialects, type Step } from '../../kit/dialogue.ts'
import { type Started, startGateway } from '../../kit/gateway.ts'
import { type FakeProvider, fakeProvider } from '../../kit/provider.ts'

const TASK = { user: 'The build fails since yesterday. Find out why and repair it.' }
const LOG = Array.from({ length: 30 }, (_, n) => `src/part-${n.toString(36)}.ts: checked`).join('\n')
const tool = (name: string, args: object, result: string): Step => ({ tool: name, args, result })

/** Sessions that are stuck, by the code that stops them. */
const stuck: Readonly<Record<string, readonly Step[]>> = {
  LOOP_TOOL_CALL: [TASK, ...Array.from({ length: 3 }, () => tool('bash', { command: 'npm test' }, '3 failing'))],
}

/** Sessions that bring nothing new; so does the end of good work, which looks once more at what it has changed. */
const told: Readonly<Record<string, readonly Step[]>> = {
  LOOP_NO_PROGRESS: [
    TASK,
    tool('bash', { command: 'make check' }, LOG),
    ...Array.from({ length: 6 }, (_, n) =>
      tool(
        'bash',
        { command: `make check | tail -${(n % 4) + 3}` },
        LOG.split('\n')
          .slice(-(n % 4) - 3)
          .join('\n'),
      ),
    ),
  ],
}

/** Sessions that look repetitive and get on. */
const fine: Readonly<Record<string, readonly Step[]>> = {
  'reads on': [
    TASK,
    ...Array.from({ length: 20 }, (_, n) =>
      tool('read_file', { path: `src/p${n}.ts` }, `export const part${n} = make('${n}')`),
    ),
  ],
  'runs the tests again after each edit': [
    TASK,
    ...Array.from({ length: 5 }, (_, n) => [
      tool('edit_file', { path: 'a.ts', text: `version ${n}` }, 'ok'),
      tool('bash', { command: 'npm test' }, `${9 - n} tests failing, ${n} passing`),
    ]).flat(),
  ],
  'pages through a log': [
    TASK,
    ...Array.from({ length: 6 }, (_, n) => tool('next_page', {}, `page ${n}: entry of worker w${n}`)),
  ],
  ...Object.fromEntries(
    ['edit_file', 'Edit', 'MultiEdit', 'NotebookEdit', 'mcp__serena__replace_symbol_body', 'execute_sql'].map(
      (name) => [
        `changes something many times by ${name}`,
        [
          TASK,
          ...Array.from({ length: 12 }, (_, n) => tool(name, { path: 'a.ts', line: n }, 'The file has been updated.')),
        ],
      ],
    ),
  ),
  ...Object.fromEntries(
    ['(Bash completed with no output)', '(no output)', '', '<returncode>0</returncode>\n<output>\n</output>'].map(
      (silence) => [
        `makes silent commands told as "${silence.slice(0, 12)}"`,
        [TASK, ...Array.from({ length: 12 }, (_, n) => tool('Bash', { command: `mkdir part-${n}` }, silence))],
      ],
    ),
  ),
  'checks after each edit, and all is well each time': [
    TASK,
    ...Array.from({ length: 12 }, (_, n) => [
      tool('Edit', { path: 'a.ts', text: `version ${n}` }, 'The file has been updated.'),
      tool('Bash', { command: 'npm run typecheck' }, '> tsc --noEmit'),
    ]).flat(),
  ],
  'waits for a process': [
    TASK,
    tool('exec_command', { cmd: 'npm run build' }, 'Process running with session ID 7\nOutput:\n'),
    ...Array.from({ length: 15 }, () =>
      tool('write_stdin', { session_id: 7, chars: '' }, 'Process running with session ID 7\nOutput:\n'),
    ),
  ],
  'is asked the same again': [
    TASK,
    tool('status', {}, 'all green'),
    { user: 'And now?' },
    tool('status', {}, 'all green'),
    { user: 'And now?' },
    tool('status', {}, 'all green'),
  ],
}

describe('the preset enforce-recommended', () => {
  let provider: FakeProvider
  let gateway: Started
  before(async () => {
    provider = await fakeProvider()
    gateway = await startGateway({ upstream: provider.url, config: 'preset: enforce-recommended' })
  })
  after(async () => {
    await gateway.close()
    await provider.close()
  })

  /** Sends a session as it grows; gives the reason of the first refusal, or of a flag. */
  const live = async ({ path, body, style }: Dialect, steps: readonly Step[], name: string) => {
    for (let end = 2; end <= steps.length; end++) {
      const answer = await gateway.request('POST', path, body(steps.slice(0, end)), {
        'x-guard-session-id': `${style} ${name}`.replaceAll(' ', '-'),
      })
      const reason = answer.headers.get('x-guard-reason')
      if (reason !== null) return { reason, status: answer.status, end }
    }
    return undefined
  }

  it('enforces its policy for projects without a policy', async () => {
    const { json } = await gateway.request('GET', '/api/policies/default')
    const { rules, warnings, source } = json as { rules: { id: string }[]; warnings: unknown[]; source: string }
    assert.deepEqual([source, warnings, rules[0]?.id], ['built_in', [], 'exact_repeat'])
  })
  for (const dialect of dialects) {
    for (const [reason, steps] of Object.entries(stuck)) {
      it(`stops a session in ${dialect.style} with ${reason} at its last step`, async () => {
        assert.deepEqual(await live(dialect, steps, reason), { reason, status: 429, end: steps.length })
      })
    }
    for (const [reason, steps] of Object.entries(told)) {
      it(`tells the model in ${dialect.style} of ${reason}, and never stops the session`, async () => {
        assert.deepEqual(await live(dialect, steps, reason), { reason, status: 200, end: steps.length })
        assert.match(provider.requests.at(-1)?.body.toString() ?? '', /told you nothing new(?!.*is refused)/)
        const on = [...steps, tool('bash', { command: 'make check | tail -9' }, LOG.split('\n').slice(-9).join('\n'))]
        const answer = await gateway.request('POST', dialect.path, dialect.body(on), {
          'x-guard-session-id': `${dialect.style} ${reason}`.replaceAll(' ', '-'),
        })
        assert.deepEqual([answer.status, answer.headers.get('x-guard-reason')], [200, reason])
      })
    }
    for (const [name, steps] of Object.entries(fine)) {
      it(`passes a session in ${dialect.style} that ${name}`, async () => {
        assert.equal(await live(dialect, steps, name), undefined)
      })
    }
  }
  // everything is enforced here; no price file is named, and the rule about cost only flags
  const meant: Readonly<Record<string, readonly string[]>> = { default: ['DEFAULT_ENFORCED'], observe: ['UNPRICED'] }
  it('has policies that are usable by name, with only the expected warnings', async () => {
    for (const preset of ['default', 'enforce-recommended', 'steer-recommended', 'pause-recommended', 'observe']) {
      const { status, json } = await gateway.request('PUT', `/api/policies/by-${preset}`, { preset })
      assert.equal(status, 200)
      assert.deepEqual(
        (json as { warnings: { code: string }[] }).warnings
          .map(({ code }) => code)
          .filter((code) => code !== 'BUDGET_BEFORE_LOOP'),
        meant[preset] ?? [],
      )
    }
  })
})
