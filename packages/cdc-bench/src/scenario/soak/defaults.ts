/** How long a soak is measured if nobody says so. */
export const defaultSoakMs = 300_000;
