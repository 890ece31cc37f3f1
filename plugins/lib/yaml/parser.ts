import { GuardError } from 'guard-gateway/core'
import type { YamlLocation, YamlLocations } from './locations.ts'
import type { YamlModule } from './module.ts'
import { readWithLocations, type YamlLimits } from './reader.ts'

/** The address of the `yaml` package, and what to read. */
export interface YamlText {
  readonly yaml: string
  readonly text: string
  readonly options: YamlLimits
}

export type YamlAnswer =
  | { readonly value: unknown; readonly places: YamlLocations }
  | { readonly refusal: string; readonly place: Partial<YamlLocation> }

const loaded: { yaml?: YamlModule } = {}

export const load = async ({ yaml }: YamlText): Promise<void> => {
  loaded.yaml ??= (await import(yaml)) as YamlModule
}

/** Reads one text. An error of ours is an answer, since its code would not cross. */
export const parse = ({ text, options }: YamlText): YamlAnswer => {
  if (loaded.yaml === undefined) throw new Error('The package has not been loaded.')
  try {
    const { value, places } = readWithLocations(loaded.yaml, text, options)
    return { value, places: places() }
  } catch (error) {
    if (!(error instanceof GuardError)) throw error
    const { line, column } = error.place
    return { refusal: error.message, place: line === undefined || column === undefined ? {} : { line, column } }
  }
}
