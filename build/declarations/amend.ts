/** Text of a declaration in a form that the bundler of declarations understands, with the same meaning. */
export const amended = (file: string, text: string): string => {
  // a declaration without `export {}` exports all that it declares
  if (file.endsWith('/tapable.d.ts')) return text.replace(/^(?=(?:declare class|type|interface) )/gm, 'export ')
  // the one type of a package that says `export =`
  if (file.includes('/ajv/'))
    return text.replace(/^import .*from "fast-uri";?$/m, 'type URIComponent = Record<string, unknown>;')
  if (file.includes('/node_modules/typebox/')) return withoutShadows(text)
  // only our own code calls it
  if (file.includes('/node_modules/yaml/')) return text.replaceAll(/\/\*[\s\S]*?\*\//g, '')
  const short = text.replaceAll(FASTIFY_DEFAULTS, 'FastifyInstance')
  const isKnown = short === text || /^import .*\bFastifyInstance\b/m.test(short)
  return isKnown ? short : `import type { FastifyInstance } from 'fastify';\n${short}`
}

/** As the compiler writes out a type whose parameters are all left at their defaults. */
const FASTIFY_DEFAULTS =
  /(?:import\("fastify"\)\.)?FastifyInstance<import\("fastify"\)\.RawServerDefault, [^>]*<[^>]*>, [^>]*FastifyTypeProviderDefault>/g

/** TypeBox names types and parameters like the modules and functions beside them, which the bundler takes for these. */
const withoutShadows = (text: string): string => {
  const modules = [...text.matchAll(/^import \* as (\w+) /gm)].map(([, name = '']) => name)
  const renamed = modules.reduce(
    (all, name) =>
      all.replaceAll(new RegExp(`(?<=^import \\* as )${name}\\b|\\b${name}(?=\\.)`, 'gm'), `${name}Module`),
    text,
  )
  return renamed
    .replaceAll(/\bExtendsResult(?=\.)/g, 'ExtendsModule')
    .replace(/^(import .*)\bExtendsResult\b/m, '$1ExtendsResult as ExtendsModule')
    .replaceAll(/^.*\binfer Optional\b.*$/gm, (line) => line.replaceAll(/\bOptional\b/g, 'Modifier'))
    .replaceAll(/\bRecord<(\w+), (\w+)>/g, '{ [_ in $1]: $2 }')
}

/** What declarations use that is not in every consumer's `lib`, and where it is. */
const LIBRARIES: readonly (readonly [RegExp, string])[] = [
  [/\bPromiseWithResolvers\b/, 'es2024.promise'],
  [/\b(Async)?Disposable\b|\bSymbol\.(asyncD|d)ispose\b/, 'esnext.disposable'],
]

export const withLibraries = (text: string): string =>
  LIBRARIES.filter(([use]) => use.test(text))
    .map(([, library]) => `/// <reference lib="${library}" />\n`)
    .join('') + text
