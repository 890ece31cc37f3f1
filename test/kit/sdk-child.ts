// Started by tests as a process of its own: records a trace that is still open when the process ends in the given way.
import { createGuard } from 'guard-gateway/sdk'

const [url = '', way = ''] = process.argv.slice(2)
const guard = createGuard({ baseUrl: url, onError: (error) => process.stderr.write(`${error.message}\n`) })
const other = createGuard({ baseUrl: url, project: 'other' })
const never = new Promise<void>(() => {})

other.start('other step')
void guard.trace('job', async () => {
  guard.span('done', () => {})
  await guard.span('open', async () => {
    guard.start('by hand')
    await never
  })
})

const stayAlive = (): NodeJS.Timeout => setInterval(() => {}, 60_000)
const ways: Record<string, () => void | Promise<void>> = {
  return: () => {
    process.exitCode = 3
  },
  wait: () => {
    stayAlive()
    process.stdout.write('ready')
  },
  listen: () => {
    const timer = stayAlive()
    process.on('SIGTERM', () => {
      // the application has its own way to end, later than the guard has sent
      setTimeout(async () => {
        clearTimeout(timer)
        await guard.trace('afterwards', () => {})
        process.exitCode = 4
      }, 20)
    })
    process.stdout.write('ready')
  },
  close: async () => {
    await Promise.all([guard.close(), other.close()])
    process.exit(5)
  },
  throw: () => {
    setImmediate(() => {
      throw new Error('nobody catches this')
    })
  },
}
await ways[way]?.()
