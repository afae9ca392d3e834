import { AjvJsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/ajv'
import type { jsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/types.js'

/**
 * Validator that sets Ajv up when a schema is to be checked, not for every client and server. The set-up costs as much as a dozen calls,
 * and an environment checks its own inputs and outputs.
 */
export const lazyValidator: jsonSchemaValidator = {
  getValidator: (schema) => new AjvJsonSchemaValidator().getValidator(schema),
}
