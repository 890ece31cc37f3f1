import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import type { Gateway } from 'guard-gateway/core'
import { explainCall } from '../../../../plugins/mcp/policy/explain.ts'
import { readTools } from '../../../../plugins/mcp/policy/listed-tool.ts'
import { loadPolicy } from '../../../../plugins/mcp/policy/load.ts'
import { validatePolicy } from '../../../../plugins/mcp/policy/validate.ts'
import { path } from '../../../../plugins/mcp-checks/path.ts'
import { shell } from '../../../../plugins/mcp-checks/shell.ts'
import { aCall, openGateway, policyOf } from './kit.ts'

let gateway: Gateway
before(async () => {
  gateway = await openGateway(shell as never, path as never)
})
after(() => gateway.close())

describe('a rule that lists the only arguments', () => {
  const allows = (more: object) => [{ id: 'r', tools: ['*'], action: 'allow', ...more }]
  const judged = async (more: object, args: object) => {
    const { action, findings } = await (await policyOf(gateway, allows(more))).judge(aCall('t', args), [])
    return [action, ...findings.map(({ pointer, reason }) => `${pointer} ${reason}`)]
  }
  it('objects to every other one', async () => {
    const only = ['command', 'timeout_ms']
    assert.deepEqual(await judged({ only }, { command: 'ls' }), ['allow'])
    assert.deepEqual(await judged({ only }, {}), ['allow'])
    assert.deepEqual(await judged({ only }, { command: 'ls', shell: '/x/evil.sh' }), [
      'deny',
      '/shell is no argument that may be given; there is command, timeout_ms',
    ])
    assert.deepEqual(await judged({ only: [] }, { a: 1 }), [
      'deny',
      '/a is no argument that may be given; there is none',
    ])
    assert.equal((await judged({ only }, JSON.parse('{"__proto__": 1}')))[0], 'deny')
    assert.equal((await judged({ only }, { COMMAND: 'ls' }))[0], 'deny')
  })
  it('says what on_violation says, and asks where that asks', async () => {
    const more = { only: ['a'], on_violation: 'confirm' }
    assert.equal((await judged(more, { b: 1 }))[0], 'confirm')
    const policy = await policyOf(gateway, allows(more))
    assert.deepEqual(
      [policy.asks, policy.effect('fs', 't', 'known'), policy.canConfirm('fs', 't')],
      [true, 'depends', true],
    )
  })
  it('counts what the client sends, not what a transform adds', async () => {
    const changed = {
      action: 'transform',
      only: ['to'],
      transform: { arguments: [{ set: { '/dry_run': true } }] },
    }
    assert.deepEqual(await judged(changed, { to: 'x' }), ['transform'])
  })
  it('is told with its words when a call is explained', async () => {
    const { policy } = await loadPolicy(gateway, { value: { version: 1, rules: allows({ only: ['a'] }) } })
    assert.ok(policy !== undefined)
    const why = async (args: object) => (await explainCall(gateway, policy, aCall('t', args))).rules[0]?.why
    assert.match((await why({ b: 1 })) ?? '', /^\/b is no argument that may be given/)
    assert.match((await why({})) ?? '', /no argument beside those it takes/)
  })
})

describe('warnings about arguments that nothing examines', () => {
  const desktop = {
    name: 'start_process',
    inputSchema: {
      properties: {
        command: { type: 'string' },
        timeout_ms: { type: 'number' },
        shell: { type: 'string' },
        verbose_timing: { type: 'boolean' },
      },
      required: ['command', 'timeout_ms'],
    },
  }
  const told = async (rules: readonly object[], tools: readonly object[] = [desktop]) => {
    const value = { version: 1, rules }
    const { errors, warnings } = await validatePolicy(gateway, { value }, { tools: tools as never })
    assert.deepEqual(errors, [])
    return warnings.map(({ code, path: at, message }) => `${code} ${at} ${message}`)
  }
  const rule = (more: object) => ({ id: 'r', tools: ['start_process'], action: 'allow', ...more })
  const checks = [{ shell: { args: ['/command'], allow: ['ls'] } }]
  const onShell = { path: { args: ['/shell'], inside: ['/bin'], optional: true } }
  const ofShell =
    'ARGUMENT_UNCHECKED /rules/0/checks rule "r" lets start_process through with any shell, at which no check looks; point a check to /shell, or list the arguments that may be given under only'

  it('name the one beside the checked one', async () => {
    assert.deepEqual(await told([rule({ checks })]), [ofShell])
    assert.deepEqual(
      await told([rule({ checks, when: { arguments: { properties: { shell: { type: 'string' } } } } })]),
      [ofShell],
    )
    assert.deepEqual(await told([rule({ checks: [...checks, { size: { args: ['/shell'], max_bytes: 9 } }] })]), [
      ofShell,
    ])
  })
  it('end when it is checked, bound, left out or taken out, here or in another rule', async () => {
    for (const more of [
      { checks: [...checks, onShell] },
      { checks, only: ['command', 'timeout_ms'] },
      { checks, when: { arguments: { properties: { shell: false } } } },
      { checks, when: { arguments: { properties: { shell: { enum: ['/bin/sh'] } } } } },
      { checks, when: { arguments: { properties: { command: {} }, additionalProperties: false } } },
      { checks, action: 'transform', transform: { arguments: [{ remove: '/shell' }] } },
    ])
      assert.deepEqual(await told([rule(more)]), [], JSON.stringify(more))
    assert.deepEqual(await told([rule({ checks }), { ...rule({ checks: [onShell, ...checks] }), id: 's' }]), [])
  })
  it('stay where what may be given is not checked', async () => {
    assert.deepEqual(await told([rule({ only: ['command', 'timeout_ms'] })]), [
      'ARGUMENT_UNCHECKED /rules/0/only rule "r" lets start_process through with any command, at which no check looks; point a check to /command, or list the arguments that may be given under only',
    ])
    assert.deepEqual(await told([rule({ only: ['comand'], action: 'confirm' })]), [
      'ARGUMENT_NOT_IN_SCHEMA /rules/0/only/0 rule "r" takes the argument comand, which its tools do not have; there is command, timeout_ms, shell, verbose_timing',
    ])
  })
  it('see what Playwright writes and runs', async () => {
    const file = join(import.meta.dirname, '../../../data/mcp-tools/playwright-0.0.83.json')
    const tools = readTools(readFileSync(file), file)
    const all = await told([{ id: 'r', tools: ['*'], action: 'allow' }], tools)
    for (const [tool, names] of [
      ['browser_take_screenshot', 'filename'],
      ['browser_snapshot', 'filename'],
      ['browser_console_messages', 'filename'],
      ['browser_navigate', 'url'],
      ['browser_evaluate', 'function'],
    ])
      assert.ok(
        all.some((one) => one.includes(`allows ${tool} with any `) && one.includes(names ?? '?')),
        `${tool} ${all.join('\n')}`,
      )
    assert.ok(!all.some((one) => one.includes('browser_close')))
  })
  it('look into objects and lists', async () => {
    const inputSchema = {
      properties: {
        jobs: { type: 'array', items: { properties: { name: {}, outputPath: {}, exit_code: { type: 'integer' } } } },
      },
    }
    assert.deepEqual(await told([rule({})], [{ name: 'start_process', inputSchema }]), [
      'ALLOW_WITHOUT_CHECKS /rules/0 rule "r" allows start_process with any jobs/*/outputPath; give it checks',
    ])
    const inside = [{ path: { args: ['/jobs/*/outputPath'], inside: ['.'] } }]
    assert.deepEqual(await told([rule({ checks: inside })], [{ name: 'start_process', inputSchema }]), [])
  })
  it('know many words for what leads out', async () => {
    const names = [
      'shell',
      'cwd',
      'env',
      'args',
      'script',
      'code',
      'function',
      'expression',
      'query',
      'host',
      'fileName',
      'baseURL',
    ]
    for (const name of names) {
      const tool = { name: 'start_process', inputSchema: { properties: { [name]: { type: 'string' } } } }
      assert.deepEqual((await told([rule({})], [tool])).length, 1, name)
    }
  })
})
