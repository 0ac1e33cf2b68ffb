/** Every unit test in one process, which starts in a tenth of the time of one process for each file. */
import.meta.glob("./*.test.ts", { eager: true });
