import type { Attributes } from 'guard-gateway/core'
import { integerOf, readName, type Subject } from './indicators.ts'

/** The result of a test record, and the field that shows it. */
export interface TestOutcome {
  readonly failed: boolean
  readonly field: string
}

export interface TestSubject extends Subject {
  readonly label: string | null
  readonly ended: boolean
}

const commandFields = ['process.command', 'process.command_line', 'command']
const exitFields = ['exit_code', 'process.exit.code']

/** The result of a test. Undefined if the record is no test, or shows no result. */
export const testOutcome = (subject: TestSubject): TestOutcome | undefined => {
  if (!isTest(subject)) return
  const failure = failureField(subject)
  if (failure !== undefined) return { failed: true, field: failure }
  const success = successField(subject)
  return success === undefined ? undefined : { failed: false, field: success }
}

const saysTest = (text: unknown): boolean => typeof text === 'string' && readName(text).test

const isTest = ({ type, name, label, attributes }: TestSubject): boolean => {
  if (type !== 'run' && (saysTest(name) || saysTest(label))) return true
  if (type !== 'run' && commandFields.some((field) => saysTest(attributes[field]))) return true
  for (const key in attributes) if (key.startsWith('test.') || key.startsWith('tests.')) return true
  return false
}

const exitCode = (attributes: Attributes): readonly [field: string, code: number] | undefined => {
  for (const field of exitFields) {
    const code = integerOf(attributes[field])
    if (code !== undefined) return [`attributes.${field}`, code]
  }
  return
}

const namesEnd = ({ type, name }: TestSubject, end: 'failed' | 'passed'): boolean => {
  if (type === 'run') return false
  const parsed = readName(name)
  return parsed.test && parsed[end]
}

const failureField = (subject: TestSubject): string | undefined => {
  const { status, attributes } = subject
  if (status === 'error') return 'status'
  const exit = exitCode(attributes)
  if (exit !== undefined && exit[1] !== 0) return exit[0]
  if (attributes['test.case.result.status'] === 'fail') return 'attributes.test.case.result.status'
  if (attributes['test.suite.run.status'] === 'failure') return 'attributes.test.suite.run.status'
  if ((integerOf(attributes['tests.failed']) ?? 0) > 0) return 'attributes.tests.failed'
  return namesEnd(subject, 'failed') ? 'name' : undefined
}

const successField = (subject: TestSubject): string | undefined => {
  const { type, status, ended, attributes } = subject
  const exit = exitCode(attributes)
  if (exit !== undefined) return exit[0]
  if (attributes['test.case.result.status'] === 'pass') return 'attributes.test.case.result.status'
  if (attributes['test.suite.run.status'] === 'success') return 'attributes.test.suite.run.status'
  if (integerOf(attributes['tests.failed']) === 0) return 'attributes.tests.failed'
  if (namesEnd(subject, 'passed')) return 'name'
  return type === 'span' && status === 'ok' && ended ? 'status' : undefined
}
