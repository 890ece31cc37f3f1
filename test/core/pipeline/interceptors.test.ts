import assert from 'node:assert/strict'
import { it } from 'node:test'
import { ask, chatBody, start } from '../../plugins/http/kit.ts'

it('a reply comes whole where who intercepts the end of its call throws', async () => {
  await using running = await start({
    plugins: [
      {
        name: 'intercepting',
        apply: ({ hooks }) =>
          hooks.settle.intercept({
            call: () => {
              throw new Error('mine')
            },
          }),
      },
    ],
  })
  const got = await ask(running.port, { body: chatBody })
  assert.deepEqual([got.status, got.complete], [200, true])
  assert.deepEqual(running.faults, ['settle: Error: mine'])
})
