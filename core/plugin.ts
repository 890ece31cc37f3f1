import type { TSchema, TUnsafe } from 'typebox'
import type { ApiStyle } from './contracts/api-style.ts'
import type { Detector } from './contracts/detector.ts'
import { checkShape } from './entry-shape.ts'
import type { Plugin } from './gateway.ts'
import { apiStyleKind, detectorKind, type Kind, storageKind } from './kinds.ts'

/**
 * Makes things of a kind plugins that register themselves, while they stay usable as what they are. `folder` begins the plugin's name.
 * Throws TypeError for a thing that is none of its kind, so that the line of the file is known.
 */
export const contribution =
  <T extends { readonly id: string }>(folder: string, kind: Kind<T>) =>
  <E extends T>(entry: E): E & Plugin => {
    checkShape(kind.title, kind.shape, entry)
    return { ...entry, name: `${folder}/${entry.id}`, apply: (gateway) => gateway.registry(kind).add(entry) }
  }

/** A dialect that model requests are spoken in; the path of a request chooses it. */
export const apiStyle = <E extends ApiStyle>(entry: E): E & Plugin => {
  const style = styleContribution(entry)
  for (const path of entry.paths)
    if (!String(path).startsWith('/'))
      throw new TypeError(`A path of API style "${entry.id}" is "${path}"; it begins with "/", as "/v2/chat".`)
  return style
}
const styleContribution = contribution('api-style', apiStyleKind)
/** A place where everything is kept; `storage.backend` chooses it. */
export const storage = contribution('storage', storageKind)
const detectorContribution = contribution('detector', detectorKind)

/**
 * A detector whose `rule.params` take their type from the schema beside them.
 * Throws TypeError where id, code or defaults are none that rules, headers and records can hold: who runs a file has not had its types checked.
 */
export const detector = <P extends TSchema = TSchema>(entry: Detector<P>): Detector<P> & Plugin => {
  checkDetector(Object(entry))
  return detectorContribution(entry as Detector) as unknown as Detector<P> & Plugin
}

const checkDetector = ({ id, code, defaults, detect }: Detector): void => {
  if (!/^[a-z][a-z0-9_]{0,63}$/.test(String(id)))
    throw new TypeError(`The id of a detector is like "same_answer", at most 64 of a-z 0-9 _; this one is "${id}".`)
  if (!/^[A-Z][A-Z0-9_]{0,63}$/.test(String(code)))
    throw new TypeError(
      `The code of detector "${id}" is "${code}"; it is like LOOP_SAME_ANSWER, at most 64 of A-Z 0-9 _.`,
    )
  for (const name of ['threshold', 'window_size'] as const)
    if (!Number.isSafeInteger(defaults?.[name]))
      throw new TypeError(`defaults.${name} of detector "${id}" is ${defaults?.[name]}; it is an integer.`)
  if (Object.prototype.toString.call(detect) === '[object AsyncFunction]')
    throw new TypeError(`detect of detector "${id}" is async; requests wait for it, so it answers at once.`)
}

/** A schema told as JSON, with the type that it describes: it needs nothing to be built, which takes a while to load. */
export const plainSchema = <T>(schema: object): TUnsafe<T> => schema as TUnsafe<T>
