export type { YamlLocation } from './yaml/locations.ts'
export type { YamlModule } from './yaml/module.ts'
export { readYamlOffThread } from './yaml/off-thread.ts'
export { readYaml, type Yaml } from './yaml/reader.ts'
