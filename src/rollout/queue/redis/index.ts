/** The door to the queue on BullMQ and Redis (`shinken-gym/queue-redis`): both are loaded with it, and only with it. */
export { openRedisQueue, RedisQueue, type RedisQueueOptions } from "./queue.js";
