// One of several processes that retry the same calls over one database: says when it is ready, and what came of the calls.
// `each`: every one by itself, as soon as it is known; otherwise all at the end.
import { callNeedingConsent, startKit } from '../audit/records-kit.ts'

const [folder = '', calls = '0', how = 'all'] = process.argv.slice(2)
const kit = await startKit({ folder })
process.once('message', async () => {
  const states: string[] = []
  for (let call = 0; call < Number(calls); call++) {
    const { state } = await callNeedingConsent(kit, { args: { call } })
    states.push(state)
    if (how === 'each') process.send?.({ call, state })
  }
  process.send?.({ states, faults: kit.faults.length })
  await kit.close()
  process.disconnect()
})
process.send?.('ready')
