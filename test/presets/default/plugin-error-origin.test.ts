import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { errorOriginIn } from '../../../presets/default/plugin-error-origin.ts'

const root = join(import.meta.dirname, '../../..')
const mine = '/home/me/app/guard/mine.mjs'
const packed = '/home/me/app/node_modules/guard-lines/index.js'

/** An error thrown where these lines say, innermost first. */
const at = (...lines: readonly string[]): Error =>
  Object.assign(new Error('boom'), { stack: ['Error: boom', ...lines.map((line) => `    at ${line}`)].join('\n') })

describe('the plugin file of an uncaught error', () => {
  const culprit = errorOriginIn([mine, packed])
  it('is that of the innermost frame, also for a file beside it and a package', () => {
    assert.equal(culprit(at('new Promise (<anonymous>)', `Timeout.tick [as _onTimeout] (file://${mine}:3:4)`)), mine)
    assert.equal(culprit(at(`async /home/me/app/guard/lib/read.cjs:1:2`, `file://${root}/core/hooks.ts:1:1`)), mine)
    assert.equal(culprit(at(`run (file://${packed}:3:4)`)), packed)
    assert.equal(
      culprit(at('Socket.emit (node:events:500:1)', `f (/home/me/app/node_modules/x/a.js:1:1)`, `g (${mine}:2:2)`)),
      mine,
    )
  })
  it("is undefined if the frame is the gateway's own, or without plugins", () => {
    assert.equal(culprit(at(`handle (file://${root}/core/pipeline.ts:30:5)`, `file://${mine}:1:1`)), undefined)
    assert.equal(culprit(at(`handle (file://${root}/core/pipeline.ts:30:5)`)), undefined)
    assert.equal(errorOriginIn([])(at()), undefined)
    assert.equal(errorOriginIn([])('text'), undefined)
  })
  it('may be an example in the gateway’s own folder', () => {
    const example = join(root, 'examples/custom-detector.ts')
    assert.equal(errorOriginIn([example])(at(`detect (file://${example}:9:1)`)), example)
  })
  it('is one of the plugin files without a frame', () => {
    const lost = [at(), at('f (/home/me/app/node_modules/pg/a.js:1:1)'), at('Socket.emit (node:events:500:1)')]
    for (const thrown of lost) assert.equal(culprit(thrown), `one of ${mine}, ${packed}`)
  })
  it('is one of the plugin files if the thrown value cannot be read', () => {
    const fail = () => assert.fail('looked at')
    const odd = [
      Object.defineProperty(new Error('x'), 'stack', { get: fail }),
      Object.defineProperty(new Error('x'), 'stack', { value: 42 }),
      new Proxy({}, { get: fail, getPrototypeOf: fail }),
    ]
    for (const thrown of odd) assert.equal(culprit(thrown), `one of ${mine}, ${packed}`)
  })
  it('is one of the plugin files if the thrown value is no error', () => {
    for (const thrown of ['text', undefined, Object.create(null)])
      assert.equal(culprit(thrown), `one of ${mine}, ${packed}`)
  })
})
