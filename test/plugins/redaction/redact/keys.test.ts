import { it } from 'node:test'
import { keyRules } from '../../../../plugins/redaction/redact/shapes.ts'
import { assertRecorded } from '../../../kit/recorded.ts'

it('the shapes of keys, as their vendors publish them, are those recorded', () => {
  assertRecorded(
    'key-shapes.txt',
    keyRules.map(
      ({ kind, anchors, alphabet, min, max, check = 'any' }) =>
        `${anchors.join(' ')}: ${kind} of alphabet ${alphabet}, ${min} to ${max}, ${check}`,
    ),
  )
})
