import type { Detector, Gateway } from 'guard-gateway/core'
import { recoveryHint } from 'guard-gateway/lib/errors'
import type { GuidePage } from 'guard-gateway/lib/page'
import { code, plainly } from './table.ts'

/** Every error code and every reason of a block, with those that plugins added. */
export const errorsPage = ({ errorCodes, detectors }: Gateway): GuidePage => ({
  id: 'error-codes',
  title: 'Error codes',
  text: () =>
    `What \`guard explain\` tells of each code.\n\n${[...[...errorCodes].map(errorText), ...[...detectors].map(reasonText)].toSorted().join('\n')}`,
})

type Told = Gateway['errorCodes'] extends Iterable<infer Code> ? Code : never

const errorText = ({ id, status, type, message, help }: Told): string =>
  `## ${id}\n\n${status} ${code(type)}. ${plainly(message)}. ${plainly(help)}\n`

const reasonText = (detector: Detector): string =>
  `## ${detector.code}\n\n429 \`guard_block\` of a [rule ${code(detector.id)}](rules#${detector.id}). ${plainly(detector.summary ?? 'It has matched')}. ${plainly(recoveryHint(detector))}\n`
