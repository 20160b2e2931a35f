"""`python -m sysbench_py.mysqlslap`"""

from sysbench_py.mysqlslap import main

if __name__ == "__main__":
    main()
