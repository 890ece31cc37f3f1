import type { FailureTag } from 'guard-gateway/core'
import { type Html, html } from '#lib/html'
import type { TreeSpan } from '#lib/trace'
import { middleEllipsis } from '../format.ts'

const hints: Readonly<Record<FailureTag, string>> = {
  loop: 'Send a new instruction, or stop the agent.',
  timeout: 'See below how long the step took, and raise its time limit or make it do less.',
  rate_limit: 'Wait, or let fewer agents send at once.',
  policy_block: 'Change the rule, or let the agent do without this step.',
  test_failure: 'Read the output of the test below.',
}

/** What helps with a failure. */
export const failureHint = (tag: FailureTag | null): string =>
  tag === null ? 'Its attributes and events are below.' : hints[tag]

const LABEL_CHARS = 60

/** The tool, model or command of a step. */
export const stepName = ({ label }: TreeSpan): Html =>
  label === null ? html`` : html` <code>${middleEllipsis(label, LABEL_CHARS)}</code>`
