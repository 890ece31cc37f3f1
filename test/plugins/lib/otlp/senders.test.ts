import { it } from 'node:test'
import { senders } from '../../../../plugins/lib/otlp/senders/table.ts'
import { assertRecorded, linesOf } from '../../../kit/recorded.ts'

it('the names that senders of spans use are those recorded', () => {
  assertRecorded(
    'otlp-senders.txt',
    senders.flatMap(({ source: _source, ...sender }) => linesOf(sender, sender.name)),
  )
})
