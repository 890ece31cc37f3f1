import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Finding } from 'guard-gateway/core'
import { messages } from 'guard-gateway/plugins/api-styles/messages'
import { toolErrorStreak } from 'guard-gateway/plugins/detectors/tool-error-streak'
import { readRequest } from '#lib/request-reader'
import { detectorConforms } from '../../conformance/detector.ts'
import { called, conversation, type Item, keyOf, result, says, step, turn, user } from '../../kit/conversation.ts'
import { evidence } from '../../kit/evidence.ts'

const shown = (items: readonly Item[], rule = {}) =>
  evidence(toolErrorStreak, 'a', { turns: conversation(items).turns, rule })
const detect = (items: readonly Item[], rule = {}) => toolErrorStreak.detect(shown(items, rule)) as Finding | undefined

const failing = (args: object = { cmd: 'make' }, text = 'make: *** No rule to make target', tool = 'bash'): Item[] => {
  const call = called(tool, args)
  return [turn(call), result(call.id, text, true)]
}
const times = (count: number, items: () => Item[]) => Array.from({ length: count }, items).flat()

detectorConforms(toolErrorStreak, shown(times(4, () => failing())))

describe('tool_error_streak: 4 tool turns in a row', () => {
  it('speaks at the fourth equal failure, with the places of all', () => {
    assert.equal(detect(times(3, () => failing())), undefined)
    assert.deepEqual(detect(times(4, () => failing())), {
      message: 'bash failed with the same error in 4 tool turns in a row',
      evidence: 'history',
      count: 4,
      tool: 'bash',
      key: keyOf('bash', { cmd: 'make' }),
      where: [{ turn: -4 }, { turn: -3 }, { turn: -2 }, { turn: -1 }],
      results_equal: true,
    })
  })
  it('needs no equal arguments, and then names no call', () => {
    let n = 0
    const finding = detect(times(4, () => failing({ cmd: `make -j${++n}` })))
    assert.equal(finding?.count, 4)
    assert.equal(finding?.key, undefined)
  })
  it('counts a notice of the client as equal only where the call is', () => {
    const noticed = (text: string) => {
      const run = (command: string, of: number) => ({
        role: 'assistant',
        content: [{ type: 'tool_use', id: `t${of}`, name: 'bash', input: { command } }],
      })
      const answer = (of: number) => ({
        role: 'user',
        content: [{ type: 'tool_result', tool_use_id: `t${of}`, content: text, is_error: true }],
      })
      const said = (commands: readonly string[]) => {
        const body = {
          model: 'm',
          messages: [{ role: 'user', content: 'go' }, ...commands.flatMap((one, of) => [run(one, of), answer(of)])],
        }
        const { conversation: read } = readRequest(messages, Buffer.from(JSON.stringify(body)))
        return toolErrorStreak.detect(evidence(toolErrorStreak, 'a', { turns: read.turns })) as Finding | undefined
      }
      return [said(['go build', 'go vet', 'go test', 'go test ./x']), said(Array(4).fill('go build'))]
    }
    for (const text of [
      'Command timed out after 30s',
      'Command timed out after 2m 0.0s',
      'MCP error -32001: Request timed out',
      'command timed out after 10000 milliseconds',
      "The user doesn't want to proceed with this tool use. The tool use was rejected.",
      'The user rejected permission to use this specific tool call.',
      '[Request interrupted by user for tool use]',
      'Tool execution was cancelled by user',
      '<tool_use_error>Cancelled: parallel tool call Bash(ls) errored</tool_use_error>',
      'Exit code 1',
    ]) {
      const [different, same] = noticed(text)
      assert.equal(different, undefined, text)
      assert.equal(same?.count, 4, text)
    }
    for (const text of [
      'npm ERR! missing script: build',
      'Command timed out after 30s\n\nCannot connect to the daemon',
    ])
      assert.equal(noticed(text)[0]?.count, 4, text)
  })
  it('takes only results that say themselves that they are errors', () => {
    const text = 'Exception: everything is broken'
    const told = () => step('bash', {}, text)
    assert.equal(detect(times(6, told)), undefined)
    assert.equal(detect([...times(3, told), ...failing({}, text)]), undefined)
    assert.equal(detect([...times(3, () => failing({}, text)), ...told()]), undefined)
  })
  it('ends at a success, another error, another tool and a user message', () => {
    const three = times(3, () => failing())
    assert.equal(detect([...three, ...step('bash', { cmd: 'ls' }, 'a.ts'), ...failing()]), undefined)
    assert.equal(detect([...three, ...failing({ cmd: 'make' }, 'permission denied')]), undefined)
    assert.equal(
      detect([...three, ...failing({ cmd: 'make' }, 'make: *** No rule to make target', 'shell')]),
      undefined,
    )
    assert.equal(detect([...three, user('go on'), ...failing()]), undefined)
    assert.equal(detect([...three, ...failing(), user('stop that')]), undefined)
  })
  it('counts on behind a user message where the rule says so', () => {
    const rule = { params: { reset_on_user_message: false } }
    assert.equal(detect([...times(3, () => failing()), user('go on'), ...failing()], rule)?.count, 4)
  })
  it('passes over turns of words and of exempt tools', () => {
    const note = step('todo_write', { items: [] }, 'ok')
    const items = [...failing(), says('again'), ...failing(), ...note, ...failing(), ...note, ...failing()]
    assert.equal(detect(items), undefined)
    assert.equal(detect(items, { params: { exempt_tools: ['todo_*'] } })?.count, 4)
  })
  it('is silent on an error without text', () => assert.equal(detect(times(5, () => failing({}, ''))), undefined))
})
