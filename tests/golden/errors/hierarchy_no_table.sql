CREATE HIERARCHY h AS TABLE clinic.nowhere;
