import { z } from 'zod'

/** The page's policy forbids code made of texts, and zod would try it. */
z.config({ jitless: true })
