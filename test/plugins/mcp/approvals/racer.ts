// One of several processes that retry the same calls over one database: says when it is ready, and what came of each call.
import { callNeedingConsent, startKit } from '../records-kit.ts'

const [folder = '', calls = '0'] = process.argv.slice(2)
const kit = await startKit({ folder })
process.once('message', async () => {
  const states: string[] = []
  for (let call = 0; call < Number(calls); call++)
    states.push((await callNeedingConsent(kit, { args: { call } })).state)
  process.send?.({ states, faults: kit.faults.length })
  await kit.close()
  process.disconnect()
})
process.send?.('ready')
