export {
  basicEnv,
  type ChildEnv,
  type ChildEnvOptions,
  childEnv,
  envFlagNames,
  missingEnvText,
  withheldText,
} from './child-env/child-env.ts'
