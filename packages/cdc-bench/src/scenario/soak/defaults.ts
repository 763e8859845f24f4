/** How long a soak is measured if nobody says so. */
export const defaultSoakMs = 300_000;
/** Of less, there may not be one whole window. */
export const minSoakMs = 2_000;
