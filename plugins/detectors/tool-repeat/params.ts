import { optionalFlag, optionalInteger, toolNames } from 'guard-gateway/lib/detection'
import { Type } from 'guard-gateway/lib/json'
import type { Static } from 'typebox'

/** Polls, and failures that changes do not cure, are looked for this far back. */
export const FAR = 24
export const POLL_THRESHOLD = 10
export const FAILED_THRESHOLD = 5
export const UNCHANGED_THRESHOLD = 10

export const params = Type.Object(
  {
    result_aware: optionalFlag(
      'Count only calls whose results are equal and not empty; a change in between starts over',
    ),
    reset_on_user_message: optionalFlag('Calls before the last user message do not count'),
    exempt_tools: toolNames('Tools whose calls do not count; `*` stands for any characters'),
    poll_tools: toolNames(
      'Tools that ask how something is getting on: only equal results count, and `poll_threshold` of them. With `result_aware` the known ones are meant where none are named',
    ),
    poll_threshold: optionalInteger(2, FAR, `Equal polls in the last ${FAR} turns; ${POLL_THRESHOLD} unless set`),
    failed_threshold: optionalInteger(
      2,
      FAR,
      `With \`result_aware\`: equal failures in the last ${FAR} turns that count whatever was changed in between; ${FAILED_THRESHOLD} unless set`,
    ),
    unchanged_threshold: optionalInteger(
      2,
      FAR,
      `The same where nothing tells whether the calls failed; ${UNCHANGED_THRESHOLD} unless set`,
    ),
    repeated_edits: optionalFlag('With `result_aware`: the same edit in consecutive turns counts whatever its results'),
    mutating_tools: toolNames(
      'With `result_aware`: further tools that edit; their calls in consecutive turns count whatever their results',
    ),
  },
  {
    additionalProperties: false,
    dependentRequired: {
      mutating_tools: ['result_aware'],
      repeated_edits: ['result_aware'],
      failed_threshold: ['result_aware'],
      unchanged_threshold: ['result_aware'],
    },
  },
)

/** What a rule of this detector says. */
export interface Ruled {
  readonly threshold: number
  readonly window_size: number
  readonly params?: Static<typeof params>
}
