// Writes build/DEPENDENCIES.md.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../project.ts'
import { dependencyDocument } from './table.ts'

writeFileSync(join(root, 'build/DEPENDENCIES.md'), dependencyDocument())
