export type { YamlModule } from './yaml/module.ts'
export { readYamlOffThread } from './yaml/off-thread.ts'
export type { YamlPlace } from './yaml/places.ts'
export { readYaml, type Yaml } from './yaml/reader.ts'
