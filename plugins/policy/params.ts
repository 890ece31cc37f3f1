import { type Detector, pointerPart, type Registry, type Rule } from 'guard-gateway/core'
import type { Problem } from './rules.ts'

/** Checks the params of each rule against its detector's schema; those of a type without a detector stay unchecked. */
export const checkParams = async (
  rules: readonly Rule[],
  path: string,
  detectors: Registry<Detector>,
  problems: Problem[],
): Promise<void> => {
  for (const [index, { rule_type, params }] of rules.entries()) {
    const detector = detectors.get(rule_type)
    if (params === undefined || detector === undefined) continue
    await checkOne(detector, params, `${path}/${index}/params`, problems)
  }
}

const checkOne = async (
  detector: Detector,
  params: NonNullable<Rule['params']>,
  path: string,
  problems: Problem[],
): Promise<void> => {
  const known = namesOf(detector)
  const unknown = Object.keys(params).filter((key) => !known.includes(key))
  for (const key of unknown) {
    const there = known.length === 0 ? 'it has none' : `there is ${known.join(', ')}`
    problems.push({ path: `${path}/${pointerPart(key)}`, message: `is not a param of ${detector.id}; ${there}` })
  }
  if (unknown.length > 0 || detector.params === undefined) return
  // The checker takes longer to load than everything else here, and most rules have no params.
  const { Errors } = await import('typebox/value')
  for (const error of Errors(detector.params, params)) {
    if (error.keyword !== 'dependentRequired')
      problems.push({ path: path + error.instancePath, message: error.message })
    else {
      const { property, dependencies } = error.params
      problems.push({
        path: `${path}/${pointerPart(property)}`,
        message: `does nothing without ${dependencies.join(', ')}`,
      })
    }
  }
}

const namesOf = ({ params }: Detector): string[] =>
  params !== undefined && 'properties' in params ? Object.keys(params.properties as object) : []
