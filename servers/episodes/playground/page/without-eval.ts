import { z } from 'zod'

/** The page's content security policy forbids `eval`, which zod would use. */
z.config({ jitless: true })
