import { it } from 'node:test'
import { startGateway } from '../kit/gateway.ts'
import { assertRecorded } from '../kit/recorded.ts'

it('each error has its recorded status and type', async () => {
  const { gateway, close } = await startGateway()
  const codes = [...gateway.errorCodes].map(({ id, status, type }) => `${id} ${status} ${type}`)
  await close()
  assertRecorded('error-statuses.txt', codes.sort())
})
