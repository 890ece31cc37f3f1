import { numberOf, object, type TestTool, text } from '../tool.ts'

const STEP_MS = 50
const MAX_MS = 600_000
const MAX_BYTES = 67_108_864

/** Tools that say something on their way, take their time, or say much. */
export const timingTools: readonly TestTool[] = [
  {
    name: 'test_tool_with_logging',
    description: 'Logs three messages while it runs',
    inputSchema: object(),
    async call(_args, running) {
      running.log('info', 'Tool execution started')
      await running.wait(STEP_MS)
      running.log('info', 'Tool processing data')
      await running.wait(STEP_MS)
      running.log('info', 'Tool execution completed')
      return text('Logged three messages.')
    },
  },
  {
    name: 'test_tool_with_progress',
    description: 'Tells its progress three times',
    inputSchema: object(),
    async call(_args, running) {
      running.progress(0, 100)
      await running.wait(STEP_MS)
      running.progress(50, 100)
      await running.wait(STEP_MS)
      running.progress(100, 100)
      return text('Made progress three times.')
    },
  },
  {
    name: 'test_reconnection',
    description: 'Closes the stream of its call and answers on the one that the client opens then',
    inputSchema: object(),
    async call(_args, running) {
      running.letGo()
      await running.wait(STEP_MS)
      return text('Answered after the stream was closed.')
    },
  },
  {
    name: 'slow',
    description: 'Answers after some milliseconds',
    inputSchema: object({ ms: { type: 'integer', minimum: 0, maximum: MAX_MS } }),
    async call(args, running) {
      const ms = numberOf(args, 'ms', MAX_MS)
      await running.wait(ms)
      return text(`Took ${ms} ms.`)
    },
  },
  {
    name: 'big',
    description: 'Answers with so many bytes of text',
    inputSchema: object({ bytes: { type: 'integer', minimum: 0, maximum: MAX_BYTES } }),
    call: (args) => text('x'.repeat(numberOf(args, 'bytes', MAX_BYTES))),
  },
]
